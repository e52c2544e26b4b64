// node lookups.mjs COUNT: so many look-ups in one placement; prints a digest of the owners.
import { Placement } from "slipring";

const placement = new Placement("ring", [{ name: "n1" }, { name: "n2" }, { name: "n3", weight: 2.5 }]);
let digest = 0;
for (let i = 0; i < Number(process.argv[2]); ++i) {
  digest = (Math.imul(digest, 31) + Number(placement.owner(`key:${i}`)[1]) - 1) >>> 0;
}
placement.close();
console.log(digest);
