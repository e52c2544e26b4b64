// node locate.mjs SNAPSHOT < KEYS: the node and the range of every key, from the snapshot that a router keeps.
import { readFileSync } from "node:fs";
import { Snapshot } from "slipring";

const snapshot = new Snapshot(process.argv[2]);
for (const key of readFileSync(0, "utf8").split("\n").slice(0, -1)) {
  console.log([key, snapshot.locate(key).node, snapshot.explain(key).range].join("\t"));
}
snapshot.close();
