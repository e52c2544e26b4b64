"""locate.py SNAPSHOT < KEYS: the node and the range of every key, from the snapshot that a router keeps."""
import sys

from slipring import Snapshot

with Snapshot(sys.argv[1]) as snapshot:
    for line in sys.stdin:
        key = line.rstrip("\n")
        print(key, snapshot.locate(key).node, snapshot.explain(key).range, sep="\t")
