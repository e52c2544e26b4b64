#!/usr/bin/env python3
"""Holds the sources to the layering of CONTRIBUTING.md.

Who may include whom, which system and library headers belong to which folder, no cycles, how a header begins, names of
files, and no path of anyone's machine. Prints one line a finding and exits with 1 if there is any. Standard library only.
"""

import os
import re
import subprocess
import sys
from collections import defaultdict

ROOT = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# A module (a folder below slipring/) and the modules it may include besides itself. CMakeLists.txt links by the same.
CORE = ["base", "hash", "placement", "topology"]
MAY_INCLUDE = {
    "base": [],
    "hash": ["base"],
    "placement": ["base", "hash"],
    "placement/conformance": ["base", "hash", "placement"],
    "topology": ["base", "hash", "placement"],
    "protocol/resp": ["base"],
    "protocol/memcache": ["base"],
    "protocol/rdb": ["base", "hash"],
    "metrics": ["base"],
    "channel": ["base", "topology"],
    "net": ["base", "metrics"],
    "store": ["base", "topology", "protocol/resp", "protocol/memcache", "protocol/rdb"],
    "store/redis": ["base", "topology", "protocol/resp", "protocol/rdb", "net", "store"],
    "store/memcached": ["base", "topology", "protocol/memcache", "net", "store"],
    "store/fake": ["base", "topology", "protocol/resp", "protocol/memcache", "protocol/rdb", "store"],
    "coordination": ["base", "topology"],
    "coordination/memory": ["base", "topology", "coordination"],
    "coordination/embedded": ["base", "hash", "topology", "coordination"],
    "coordination/etcd": ["base", "topology", "coordination", "net"],
    "rebalance": CORE + ["protocol/resp", "protocol/rdb", "metrics", "store", "coordination"],
    "router": CORE + ["protocol/resp", "protocol/memcache", "channel", "metrics", "net", "store"],
    "control": CORE + ["protocol/resp", "protocol/rdb", "metrics", "channel", "net", "store", "store/redis",
                       "store/memcached", "coordination", "rebalance"],
    "lab": CORE + ["protocol/resp", "protocol/memcache", "protocol/rdb", "metrics", "channel", "store", "store/fake",
                   "coordination", "coordination/memory", "rebalance", "router", "lab/sim", "lab/analysis"],
    "lab/analysis": CORE,
    "lab/sim": CORE + ["protocol/resp", "protocol/rdb", "metrics", "channel", "store", "store/fake", "coordination",
                       "coordination/memory", "rebalance"],
    "import": CORE,
    "capi": CORE,
    "cli": None,  # everything
}

# Headers that belong to few folders: (pattern of the header, where it may be included, in headers too?).
RESTRICTED = [
    (r"sys/(epoll|socket|un|eventfd|timerfd)\.h|netinet/.*|arpa/.*|netdb\.h",
     # The API's server sets options on the sockets that httplib opens.
     ["slipring/net/", "slipring/control/http_server.cc", "slipring/cli/unix_socket", "tests/"], True),
    (r"sqlite3\.h", ["slipring/coordination/embedded/"], True),
    (r"CLI/.*", ["slipring/cli/"], True),
    (r"httplib\.h", ["slipring/control/", "slipring/router/http_endpoint.cc", "tests/"], False),
    (r"openssl/.*", ["slipring/net/", "slipring/hash/", "bench/"], True),
    (r"toml\+\+/.*|toml\.hpp", ["slipring/control/", "slipring/cli/"], False),
    (r"yaml-cpp/.*", ["slipring/import/"], False),
    (r"nlohmann/(?!json_fwd).*", ["slipring/", "tests/", "bench/"], False),
    (r"spdlog/.*|boost/.*|ranges|coroutine|format|source_location", [], True),
]

# A core is handed time, threads and chance; it never takes them.
CORES = ["hash", "placement", "topology", "protocol", "channel", "lab", "import"]
CORE_FORBIDDEN_HEADERS = re.compile(r"^(thread|mutex|shared_mutex|condition_variable|future|random|unistd\.h|poll\.h)$")
CLOCK_READERS = re.compile(r"(steady|system|high_resolution)_clock::now|random_device|\b(clock_)?gettime(ofday)?\(")
CLOCK_OWNERS = ["slipring/base/clock.h", "slipring/base/log.cc"]
# Files of a core that do I/O, and say so in their header.
CORE_IO = ["slipring/topology/snapshot_file.cc", "slipring/placement/huge_pages.h"]

FORBIDDEN_FILE_WORDS = {"manager", "managers", "helper", "helpers", "util", "utils", "utility", "common", "misc"}
MACHINE_PATHS = re.compile(r"(?<![\w.])/(work|root|home)/|/tmp/wt\b")
TEXT_SUFFIXES = (".h", ".cc", ".c", ".py", ".md", ".txt", ".cmake", ".json", ".js", ".html", ".css", ".toml", ".yml",
                 ".service", ".sh", "")
HEADER_COMMENT_LINES = (1, 16)

INCLUDE = re.compile(r'^[ \t]*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.M)

findings = []


def report(path, message, line=None):
    findings.append(f"{path}:{line}: {message}" if line else f"{path}: {message}")


def tracked_files():
    """What git would commit: tracked and new files, none that it ignores."""
    out = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                         check=True, capture_output=True).stdout
    return sorted({name for name in out.decode().split("\0") if name and os.path.isfile(os.path.join(ROOT, name))})


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def module_of(path):
    """The longest module whose folder holds the file; None outside slipring/."""
    if not path.startswith("slipring/"):
        return None
    folder = os.path.dirname(path[len("slipring/"):])
    while folder and folder not in MAY_INCLUDE:
        folder = os.path.dirname(folder)
    return folder or ""


def is_test(path):
    return path.endswith("_test.cc") or os.path.basename(path) in ("testing.h", "testing.cc")


def check_module_include(path, module, included, line):
    target = module_of(included)
    if not os.path.isfile(os.path.join(ROOT, included)):
        report(path, f'includes "{included}", which does not exist', line)
    elif target == module or MAY_INCLUDE[module] is None or target in MAY_INCLUDE[module]:
        return
    # Tests stand between modules: they may use what is below or beside them for their own ends, fakes above all.
    elif is_test(path) and target in ("coordination/memory", "store/fake", "net", "metrics"):
        return
    else:
        report(path, f"module {module} may not include {target} ({included})", line)


def check_system_include(path, included, line):
    for pattern, folders, in_headers in RESTRICTED:
        if not re.fullmatch(pattern, included):
            continue
        if not is_test(path) and not any(path.startswith(folder) for folder in folders):
            report(path, f"<{included}> belongs to {', '.join(folders) or 'no folder'}", line)
        elif path.endswith(".h") and not in_headers:
            report(path, f"<{included}> is too heavy for a header: include it in a .cc", line)


def check_includes(path, text, graph):
    module = module_of(path)
    if module == "":
        report(path, "stands in no module of tools/lint.py")
        return
    for match in INCLUDE.finditer(text):
        quoted, angled = match.groups()
        line = line_of(text, match.start())
        if angled:
            check_system_include(path, angled, line)
            core = module is not None and module.split("/")[0] in CORES
            if core and not is_test(path) and path not in CORE_IO and CORE_FORBIDDEN_HEADERS.match(angled):
                report(path, f"a core does not include <{angled}>", line)
            continue
        if quoted.startswith("slipring/"):
            graph[path].append(quoted)
            if module is not None:
                check_module_include(path, module, quoted, line)
        elif module is not None:
            report(path, f'"{quoted}": write the path from the root, as "slipring/..."', line)


def check_cycles(graph):
    """Depth-first over header includes; a grey file met again closes a cycle."""
    state = {}

    def visit(path, trail):
        if state.get(path) == "done":
            return
        if state.get(path) == "open":
            report(path, "include cycle: " + " -> ".join(trail[trail.index(path):] + [path]))
            return
        state[path] = "open"
        for included in graph.get(path, []):
            visit(included, trail + [path])
        state[path] = "done"

    for path in sorted(graph):
        visit(path, [])

    modules = defaultdict(set)
    for path, includes in graph.items():
        if is_test(path) or module_of(path) is None:
            continue
        for included in includes:
            if module_of(included) != module_of(path):
                modules[module_of(path)].add(module_of(included))
    # The same search over modules.
    state.clear()
    trail_of = []

    def visit_module(module):
        if state.get(module) == "done":
            return
        if state.get(module) == "open":
            report("slipring/" + module, "module cycle: " + " -> ".join(trail_of[trail_of.index(module):] + [module]))
            return
        state[module] = "open"
        trail_of.append(module)
        for target in sorted(modules.get(module, ())):
            visit_module(target)
        trail_of.pop()
        state[module] = "done"

    for module in sorted(modules):
        visit_module(module)


def check_header(path, text):
    lines = text.split("\n")
    comment = 0
    while comment < len(lines) and lines[comment].startswith("//"):
        comment += 1
    least, most = HEADER_COMMENT_LINES
    if path.startswith("slipring/") and not least <= comment <= most:
        report(path, f"opens with {comment} lines of comment, wanted {least} to {most}: what it is, its invariant, threads")
    if "#pragma once" not in lines:
        report(path, "has no #pragma once")


def check_clock(path, text):
    if not path.startswith("slipring/") or path in CLOCK_OWNERS or is_test(path) or path.endswith("_bench.cc"):
        return
    match = CLOCK_READERS.search(text)
    if match:
        report(path, f"reads the time or chance itself ({match.group(0)}): take a Clock or a seed", line_of(text, match.start()))


def check_name(path):
    words = re.split(r"[^a-z0-9]+", os.path.basename(path).lower())
    for word in FORBIDDEN_FILE_WORDS.intersection(words):
        report(path, f'"{word}" in a file name says nothing; name what it does')


def check_text(path, text):
    for match in MACHINE_PATHS.finditer(text):
        # This file and its tests hold the pattern itself.
        if path not in ("tools/lint.py", "tests/tidy/lint_test.py"):
            report(path, f"path of somebody's machine: {match.group(0)}", line_of(text, match.start()))


def main():
    graph = defaultdict(list)
    for path in tracked_files():
        check_name(path)
        if os.path.splitext(path)[1] not in TEXT_SUFFIXES:
            continue
        text = read(path)
        check_text(path, text)
        if path.endswith((".h", ".cc")):
            check_includes(path, text, graph)
            check_clock(path, text)
        if path.endswith(".h"):
            check_header(path, text)
    check_cycles(graph)
    for finding in findings:
        print(finding)
    print(f"lint: {len(findings)} findings" if findings else "lint: clean")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
