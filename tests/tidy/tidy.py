#!/usr/bin/env python3
"""Reads the C++ sources and holds them to their shape: short functions, short files, no unfinished business, tests that
assert something and never sleep. Ends with the figures that STYLE's targets speak of. Standard library only.

`tidy.py [ROOT]` prints one line a finding and exits with 1 if there is any.
"""

import os
import re
import statistics
import subprocess
import sys

ROOT = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 600
# A file is a table, and may be longer, if most of its lines are rows.
TABLE_ROW = re.compile(r"^\s*(\{.*\},?|\"[^\"]*\",?|(0x[0-9a-fA-F]+u?l*,\s*)+)\s*(//.*)?$")
RATIO_TARGETS = {"slipring": 1.0, "slipring/topology": 2.0, "slipring/rebalance": 2.0}

UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\b")
SLEEPS = re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep)\b|(?<![\w.>])sleep\(")
ASSERTS = re.compile(r"\b(EXPECT|ASSERT|RC_ASSERT|FAIL|ADD_FAILURE|SUCCEED)\w*|\b(expect|assert|check|verify)\w*\s*[<(]")
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum)\b|^\s*extern\s*$")
TEST_NAME = re.compile(r"^\s*(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)")


def sources():
    out = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                         check=True, capture_output=True).stdout
    names = {n for n in out.decode().split("\0") if n.endswith((".h", ".cc"))}
    return sorted(n for n in names if os.path.isfile(os.path.join(ROOT, n)))


def blank(match):
    """What was matched, as blanks, with its lines kept."""
    return re.sub(r"[^\n]", " ", match.group(0))


def code_only(text):
    """Without comments, and with empty strings."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)

    def replace(match):
        # A quote between digits separates them: 10'000.
        return blank(match)

    return pattern.sub(replace, re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", " ", text))


def without_nested(text, pattern, mark):
    """`text` with everything that `pattern` matches, innermost first, replaced by `mark`."""
    while True:
        inner = re.sub(pattern, mark, text)
        if inner == text:
            return text
        text = inner


def opens_function(head):
    """Whether the text in front of a brace is that of a function's body."""
    flat = re.sub(r"operator\s*(\(\)|[^\w\s(]+)", "operator", head).replace("->", " ")
    flat = without_nested(flat, r"\([^()]*\)", "@")
    flat = without_nested(flat, r"<[^<>]*>", " ")
    if SCOPE.search(flat) and "@" not in flat:
        return False
    return "@" in flat and "=" not in flat and "(" not in flat


def functions(code):
    """(head, first line, last line, body) of every function that stands in no other."""
    depth_of_body = None
    depth = 0
    start = 0
    head = ""
    for match in re.finditer(r"[{};]", code):
        mark = match.group(0)
        at = match.start()
        if mark == "{":
            if depth_of_body is None:
                text = code[start:at]
                # Directives are no part of the head.
                text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
                if opens_function(text):
                    depth_of_body = depth
                    head = text
                    body_start = at
            depth += 1
        elif mark == "}":
            depth -= 1
            if depth_of_body is not None and depth == depth_of_body:
                yield head, code.count("\n", 0, body_start) + 1, code.count("\n", 0, at) + 1, code[body_start:at]
                depth_of_body = None
        # A brace inside parentheses, as in f(T t = {}), ends nothing.
        if depth_of_body is None and code.count("(", start, at) <= code.count(")", start, at):
            start = match.end()


def is_test(path):
    return path.endswith("_test.cc") or path.startswith(("tests/", "fuzz/")) or re.search(
        r"testing|contract", os.path.basename(path)) is not None


def is_table(lines):
    return sum(bool(TABLE_ROW.match(line)) for line in lines) * 2 > len(lines)


class Tidy:
    def __init__(self):
        self.findings = []
        self.lengths = []
        self.file_lengths = []
        self.code_lines = {}  # folder -> [code, test]

    def report(self, path, message, line=None):
        self.findings.append(f"{path}:{line}: {message}" if line else f"{path}: {message}")

    def check(self, path):
        with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
            text = file.read()
        lines = text.split("\n")
        code = code_only(text)
        if len(lines) - 1 > FILE_LINES_MAX and not is_table(lines):
            self.report(path, f"{len(lines) - 1} lines, the most is {FILE_LINES_MAX}")
        for match in UNFINISHED.finditer(text):
            self.report(path, f"unfinished: {match.group(0)}", text.count("\n", 0, match.start()) + 1)
        self.check_functions(path, code)
        # Unit tests stand beside the code; those in tests/ wait for real servers.
        if path.startswith("slipring/") and is_test(path):
            for match in SLEEPS.finditer(code):
                self.report(path, "a unit test does not sleep", code.count("\n", 0, match.start()) + 1)
        self.count(path, code)

    def check_functions(self, path, code):
        for head, first, last, body in functions(code):
            length = last - first + 1
            self.lengths.append(length)
            if length > FUNCTION_LINES_MAX:
                self.report(path, f"function of {length} lines, the most is {FUNCTION_LINES_MAX}", first)
            test = TEST_NAME.match(head)
            if test and not ASSERTS.search(body):
                self.report(path, f"test {test.group(1)}.{test.group(2)} asserts nothing", first)

    def count(self, path, code):
        filled = sum(1 for line in code.split("\n") if line.strip())
        self.file_lengths.append(filled)
        if path.startswith("slipring/"):
            parts = path.split("/")
            folders = ["slipring", "/".join(parts[:2])]
        elif path.startswith("tests/"):
            folders = ["slipring"]
        else:
            return
        for folder in folders:
            self.code_lines.setdefault(folder, [0, 0])[1 if is_test(path) else 0] += filled

    def summary(self):
        if self.lengths:
            tenth = sorted(self.file_lengths)[int(len(self.file_lengths) * 0.9)]
            print(f"functions: {len(self.lengths)}, median {statistics.median(self.lengths):g} lines, longest "
                  f"{max(self.lengths)}; files: {len(self.file_lengths)}, p90 {tenth} lines of code")
        for folder, (code, test) in sorted(self.code_lines.items()):
            ratio = test / code if code else 0
            target = RATIO_TARGETS.get(folder)
            note = "" if target is None else f", target {target:.1f}{'' if ratio >= target else ' (below)'}"
            print(f"{folder}: {code} lines of code, {test} of tests, {ratio:.2f}{note}")


def main():
    tidy = Tidy()
    for path in sources():
        tidy.check(path)
    for finding in tidy.findings:
        print(finding)
    tidy.summary()
    print(f"tidy: {len(tidy.findings)} findings" if tidy.findings else "tidy: clean")
    return 1 if tidy.findings else 0


if __name__ == "__main__":
    sys.exit(main())
