"""lookups.py COUNT: so many look-ups in one placement; prints a digest of the owners."""
import sys

from slipring import Placement

members = [{"name": "n1"}, {"name": "n2"}, {"name": "n3", "weight": 2.5}]
digest = 0
with Placement("ring", members) as placement:
    for i in range(int(sys.argv[1])):
        digest = (digest * 31 + int(placement.owner(f"key:{i}")[1]) - 1) & 0xFFFFFFFF
print(digest)
