// Where a key lives, for Node: libslipring_c by koffi.
//
// The library is found as SLIPRING_LIBRARY says, else as libslipring_c.so.1 on the loader's path. Keys are Buffers, or
// strings, which count as UTF-8.
import koffi from "koffi";

const ABI_VERSION = 1;
const NO_NODE = 0xffffffff;

const library = koffi.load(process.env.SLIPRING_LIBRARY ?? "libslipring_c.so.1");

koffi.opaque("slipring_snapshot");
koffi.opaque("slipring_placement");
koffi.struct("slipring_location", {
  node: "const char *",
  address: "const char *",
  source: "const char *",
  target: "const char *",
  epoch: "uint64_t",
});
koffi.struct("slipring_member", {
  name: "const char *",
  label: "const char *",
  zone: "const char *",
  weight_milli: "int64_t",
  attributes: "const char **",
});

const declare = (prototype) => library.func(prototype);
const c = {
  abiVersion: declare("uint32_t slipring_abi_version()"),
  lastError: declare("const char *slipring_last_error()"),
  snapshotOpen: declare("int slipring_snapshot_open(const char *path, _Out_ slipring_snapshot **out)"),
  snapshotClose: declare("void slipring_snapshot_close(slipring_snapshot *snapshot)"),
  snapshotEpoch: declare("uint64_t slipring_snapshot_epoch(slipring_snapshot *snapshot)"),
  snapshotPoolCount: declare("size_t slipring_snapshot_pool_count(slipring_snapshot *snapshot)"),
  snapshotPoolName: declare("const char *slipring_snapshot_pool_name(slipring_snapshot *snapshot, size_t pool)"),
  snapshotFindPool: declare(
    "int slipring_snapshot_find_pool(slipring_snapshot *snapshot, const char *name, _Out_ size_t *out)"),
  snapshotLocate: declare(
    "int slipring_snapshot_locate(slipring_snapshot *snapshot, size_t pool, const void *key, size_t key_bytes, _Out_ slipring_location *out)"),
  snapshotExplain: declare(
    "int slipring_snapshot_explain(slipring_snapshot *snapshot, size_t pool, const void *key, size_t key_bytes, void *point, size_t point_bytes, void *range, size_t range_bytes)"),
  placementNew: declare(
    "int slipring_placement_new(const char *scheme, const char **options, const slipring_member *members, size_t member_count, _Out_ slipring_placement **out)"),
  placementFree: declare("void slipring_placement_free(slipring_placement *placement)"),
  placementOwner: declare(
    "uint32_t slipring_placement_owner(slipring_placement *placement, const void *key, size_t key_bytes)"),
  placementList: declare(
    "size_t slipring_placement_list(slipring_placement *placement, const void *key, size_t key_bytes, void *nodes, size_t capacity)"),
  placementExplain: declare(
    "int slipring_placement_explain(slipring_placement *placement, const void *key, size_t key_bytes, void *point, size_t point_bytes, void *range, size_t range_bytes)"),
};
if (c.abiVersion() !== ABI_VERSION) throw new Error("libslipring_c has another ABI version");

// A refused call; `code` is gRPC's canonical number.
export class SlipringError extends Error {
  constructor(code, message) {
    super(message);
    this.name = "SlipringError";
    this.code = code;
  }
}

function check(code) {
  if (code !== 0) throw new SlipringError(code, c.lastError());
}

const bytesOf = (key) => (typeof key === "string" ? Buffer.from(key) : key);
const textOf = (buffer) => buffer.toString("utf8", 0, buffer.indexOf(0));
const textsOf = (values = {}) => [...Object.entries(values).map(([name, value]) => `${name}=${value}`), null];

function explanation(call) {
  const point = Buffer.alloc(256);
  const range = Buffer.alloc(256);
  check(call(point, point.length, range, range.length));
  return { point: textOf(point), range: textOf(range) };
}

class Handle {
  #pointer = null;
  #free;

  constructor(pointer, free) {
    this.#pointer = pointer;
    this.#free = free;
  }

  close() {
    const pointer = this.#pointer;
    this.#pointer = null;
    if (pointer !== null) this.#free(pointer);
  }

  get pointer() {
    if (this.#pointer === null) throw new Error("closed");
    return this.#pointer;
  }
}

function open(call) {
  const out = [null];
  check(call(out));
  return out[0];
}

// The topology of one epoch, from DIR/router-ID.snapshot of a router or what `slipring topology export` wrote.
export class Snapshot {
  #handle;

  constructor(path) {
    this.#handle = new Handle(open((out) => c.snapshotOpen(path, out)), c.snapshotClose);
  }

  close() {
    this.#handle.close();
  }

  get epoch() {
    return BigInt(c.snapshotEpoch(this.#handle.pointer));
  }

  get pools() {
    const count = Number(c.snapshotPoolCount(this.#handle.pointer));
    return Array.from({ length: count }, (_, i) => c.snapshotPoolName(this.#handle.pointer, i));
  }

  // Who serves the key; source and target are null unless a plan moves it. `pool` null: the only one.
  locate(key, pool = null) {
    const bytes = bytesOf(key);
    const found = {};
    check(c.snapshotLocate(this.#handle.pointer, this.#pool(pool), bytes, bytes.length, found));
    return { ...found, epoch: BigInt(found.epoch) };
  }

  // The key's point and range under the placement of the node that serves it.
  explain(key, pool = null) {
    const bytes = bytesOf(key);
    const at = this.#pool(pool);
    return explanation((...out) => c.snapshotExplain(this.#handle.pointer, at, bytes, bytes.length, ...out));
  }

  #pool(name) {
    const index = [0];
    check(c.snapshotFindPool(this.#handle.pointer, name, index));
    return index[0];
  }
}

// A placement made in the program. Members are objects: name, and maybe label, zone, weight (a number with at most three
// places), attributes (an object). Options are an object.
export class Placement {
  #handle;
  #names;

  constructor(scheme, members, options = {}) {
    this.#names = members.map((member) => member.name);
    const array = members.map((member) => ({
      name: member.name,
      label: member.label ?? null,
      zone: member.zone ?? null,
      weight_milli: Math.round((member.weight ?? 1) * 1000),
      attributes: textsOf(member.attributes),
    }));
    const pointer = open((out) => c.placementNew(scheme, textsOf(options), array, array.length, out));
    this.#handle = new Handle(pointer, c.placementFree);
  }

  close() {
    this.#handle.close();
  }

  // The name of the key's node; null if none owns anything.
  owner(key) {
    const bytes = bytesOf(key);
    const index = c.placementOwner(this.#handle.pointer, bytes, bytes.length);
    return index === NO_NODE ? null : this.#names[index];
  }

  preferenceList(key, replicas) {
    const bytes = bytesOf(key);
    const nodes = new Uint32Array(replicas);
    const count = c.placementList(this.#handle.pointer, bytes, bytes.length, nodes, replicas);
    return Array.from(nodes.subarray(0, Number(count)), (i) => this.#names[i]);
  }

  explain(key) {
    const bytes = bytesOf(key);
    return explanation((...out) => c.placementExplain(this.#handle.pointer, bytes, bytes.length, ...out));
  }
}
