#!/usr/bin/env python3
"""lint and tidy find what they are there for, and nothing in clean sources."""

import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
LINT = os.path.join(HERE, "..", "..", "tools", "lint.py")
TIDY = os.path.join(HERE, "tidy.py")

HEADER = "// What it is.\n//\n// Invariant: none. Thread-safety: values.\n#pragma once\n\n"


class SourceChecks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        subprocess.run(["git", "init", "-q", self.folder.name], check=True)

    def put(self, path, text):
        full = os.path.join(self.folder.name, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)

    def run_check(self, program):
        done = subprocess.run([sys.executable, program, self.folder.name], capture_output=True, text=True, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertEqual(done.returncode == 0, "clean" in done.stdout)
        return done.stdout

    def assert_finding(self, program, *words):
        out = self.run_check(program)
        for word in words:
            self.assertIn(word, out)
        self.assertNotIn("clean", out)

    # --- lint ---

    def test_clean_sources_have_no_findings(self):
        self.put("slipring/base/a.h", HEADER)
        self.put("slipring/hash/b.h", HEADER + '#include "slipring/base/a.h"\n')
        self.put("slipring/hash/b.cc", '#include "slipring/hash/b.h"\n#include <vector>\n')
        self.assertIn("lint: clean", self.run_check(LINT))

    def test_an_upward_include_is_found(self):
        self.put("slipring/net/a.h", HEADER)
        self.put("slipring/base/b.cc", '\n#include "slipring/net/a.h"\n')
        self.assert_finding(LINT, "slipring/base/b.cc:2: module base may not include net")

    def test_tests_may_use_fakes(self):
        self.put("slipring/coordination/memory/a.h", HEADER)
        self.put("slipring/control/a.cc", '#include "slipring/coordination/memory/a.h"\n')
        self.put("slipring/control/a_test.cc", '#include "slipring/coordination/memory/a.h"\n')
        out = self.run_check(LINT)
        self.assertIn("slipring/control/a.cc:1:", out)
        self.assertNotIn("a_test.cc", out)

    def test_a_missing_file_is_found(self):
        self.put("slipring/base/b.cc", '#include "slipring/base/nosuch.h"\n')
        self.assert_finding(LINT, "does not exist")

    def test_an_include_must_start_at_the_root(self):
        self.put("slipring/base/a.h", HEADER)
        self.put("slipring/base/b.cc", '#include "a.h"\n')
        self.assert_finding(LINT, "write the path from the root")

    def test_a_folder_that_is_no_module_is_found(self):
        self.put("slipring/stuff/a.h", HEADER)
        self.assert_finding(LINT, "stands in no module")

    def test_restricted_headers_are_found(self):
        for header, ok, bad in [
            ("sys/epoll.h", "slipring/net/x.cc", "slipring/router/x.cc"),
            ("sys/socket.h", "slipring/net/x.h", "slipring/store/redis/x.cc"),
            ("sqlite3.h", "slipring/coordination/embedded/x.cc", "slipring/coordination/x.cc"),
            ("CLI/CLI.hpp", "slipring/cli/x.cc", "slipring/control/x.cc"),
            ("nlohmann/json.hpp", "slipring/control/x.cc", "slipring/control/x.h"),
        ]:
            with self.subTest(header=header):
                self.put(ok, (HEADER if ok.endswith(".h") else "") + f"#include <{header}>\n")
                self.assertNotIn(ok, self.run_check(LINT))
                self.put(bad, (HEADER if bad.endswith(".h") else "") + f"#include <{header}>\n")
                self.assert_finding(LINT, bad, f"<{header}>")
                os.remove(os.path.join(self.folder.name, bad))

    def test_a_core_takes_no_threads_and_no_time(self):
        self.put("slipring/topology/a.cc", "#include <thread>\n")
        self.put("slipring/placement/a.cc", "auto t = std::chrono::steady_clock::now();\n")
        self.put("slipring/router/a.cc", "std::random_device chance;\n")
        self.assert_finding(LINT, "a core does not include <thread>", "placement/a.cc:1: reads the time", "router/a.cc:1")

    def test_cycles_are_found(self):
        self.put("slipring/base/a.h", HEADER + '#include "slipring/base/b.h"\n')
        self.put("slipring/base/b.h", HEADER + '#include "slipring/base/a.h"\n')
        self.assert_finding(LINT, "include cycle")

    def test_headers_begin_with_what_they_are(self):
        self.put("slipring/base/a.h", "#pragma once\n")
        self.put("slipring/base/b.h", HEADER.replace("#pragma once", ""))
        self.assert_finding(LINT, "a.h: opens with 0 lines", "b.h: has no #pragma once")

    def test_names_that_say_nothing_are_found(self):
        self.put("slipring/base/node_manager.cc", "\n")
        self.put("tests/test_utils.py", "\n")
        self.assert_finding(LINT, "node_manager.cc", "test_utils.py")

    def test_paths_of_a_machine_are_found(self):
        self.put("docs/a.md", "see /" + "home/me/slipring\n")
        self.put("docs/b.md", "the /network/root/ of https://example.org/home/page is fine\n")
        out = self.run_check(LINT)
        self.assertIn("docs/a.md:1", out)
        self.assertNotIn("docs/b.md", out)

    # --- tidy ---

    def test_shapely_sources_are_tidy(self):
        self.put("slipring/base/a.cc", "int f() {\n  return 1;\n}\n")
        self.put("slipring/base/a_test.cc", "TEST(F, IsOne) { EXPECT_EQ(f(), 1); }\n")
        out = self.run_check(TIDY)
        self.assertIn("tidy: clean", out)
        self.assertIn("functions: 2, median", out)

    def test_long_functions_are_found_wherever_they_stand(self):
        body = "  call();\n" * 75
        for head in ("void f() {\n", "A::A() : a_{1}, b_(2) {\n", "bool operator==(const A& a) const {\n",
                     "TEST(A, B) {\n", "template <typename T = int>\nauto f(T t = {}) -> T {\n",
                     "struct S {\n void f() const noexcept {\n"):
            with self.subTest(head=head):
                self.put("slipring/base/a.cc", "namespace x {\n" + head + body + "EXPECT_TRUE(1);}\n}\n}\n")
                self.assert_finding(TIDY, "function of 7")

    def test_tables_and_scopes_are_no_functions(self):
        rows = "  1,\n" * 100
        self.put("slipring/base/a.cc", "namespace x {\nconstexpr int kTable[] = {\n" + rows + "};\nstruct S {\n" +
                 "  int a;\n" * 100 + "};\nenum class E {\n" + "  kA,\n" * 80 + "};\n}\n")
        self.assertIn("tidy: clean", self.run_check(TIDY))

    def test_braces_in_strings_and_comments_do_not_count(self):
        self.put("slipring/base/a.cc", 'void f() {\n  g("{{{", \'{\');  // {{{\n  int n = 10\'000;\n}\nvoid g() {\n}\n')
        out = self.run_check(TIDY)
        self.assertIn("functions: 2", out)

    def test_long_files_are_found_unless_they_are_tables(self):
        self.put("slipring/base/a.cc", "int a;\n" * 601)
        self.put("slipring/base/b.cc", '    {"GET", 2},\n' * 601)
        out = self.run_check(TIDY)
        self.assertIn("slipring/base/a.cc: 601 lines", out)
        self.assertNotIn("slipring/base/b.cc: 601", out)

    def test_unfinished_business_is_found(self):
        self.put("slipring/base/a.cc", "\n// TO" + "DO: later\n")
        self.assert_finding(TIDY, "slipring/base/a.cc:2: unfinished")

    def test_unit_tests_that_sleep_are_found(self):
        self.put("slipring/base/a_test.cc", "void f() {\n  std::this_thread::sleep_for(x);\n}\n")
        self.put("slipring/base/b_test.cc", "void f() {\n  sleep(1);\n}\n")
        self.assert_finding(TIDY, "a_test.cc:2: a unit test does not sleep", "b_test.cc:2")

    def test_tests_that_assert_nothing_are_found(self):
        self.put("slipring/base/a_test.cc", "TEST(A, Good) { expect_all<int>(1); }\nTEST(A, Idle) { run(); }\n")
        out = self.run_check(TIDY)
        self.assertIn("test A.Idle asserts nothing", out)
        self.assertNotIn("A.Good", out)

    def test_the_ratio_of_tests_is_told(self):
        self.put("slipring/topology/a.cc", "int a;\n" * 10)
        self.put("slipring/topology/a_test.cc", "int a;\n" * 15)
        out = self.run_check(TIDY)
        self.assertIn("slipring/topology: 10 lines of code, 15 of tests, 1.50, target 2.0 (below)", out)


if __name__ == "__main__":
    unittest.main()
