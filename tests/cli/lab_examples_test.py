"""docs/lab.md is what the program prints: every example is run as it is documented. Nanoseconds are measured and differ.

  lab_examples_test.py SLIPRING            compares
  lab_examples_test.py SLIPRING --write    writes the answers into the document
"""
import pathlib
import re
import shlex
import subprocess
import sys
import unittest

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs/lab.md"
EXAMPLE = re.compile(r"^```\n\$ (slipring lab [^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# "219.4 ns", the last column of the vnodes table in CSV, and the look-up in milliseconds.
MEASURED = [(re.compile(r" *\d+\.\d ns"), " N ns"), (re.compile(r"^(vnodes,.*),[\d.e+-]+$", re.MULTILINE), r"\1,N"),
            (re.compile(r"takes \d\.\d+ ms"), "takes N ms"), (re.compile(r" +look-up *$", re.MULTILINE), " look-up")]

program = sys.argv[1]


def run(command):
    words = shlex.split(command)
    done = subprocess.run([program, *words[1:]], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise AssertionError(f"{command}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def without_measured(text):
    for pattern, replacement in MEASURED:
        text = pattern.sub(replacement, text)
    return text


class Examples(unittest.TestCase):
    maxDiff = None

    def test_the_document_is_what_the_program_prints(self):
        examples = EXAMPLE.findall(DOCUMENT.read_text())
        self.assertGreater(len(examples), 12)
        for command, answer in examples:
            with self.subTest(command):
                self.assertEqual(without_measured(run(command)), without_measured(answer))


if __name__ == "__main__":
    if "--write" in sys.argv:
        text = DOCUMENT.read_text()
        DOCUMENT.write_text(EXAMPLE.sub(lambda m: f"```\n$ {m[1]}\n{run(m[1])}```", text))
    else:
        unittest.main(argv=sys.argv[:1])
