#include <fmt/format.h>

#include <cstring>
#include <new>

#include "slipring/capi/slipring.h"
#include "slipring/placement/parameters.h"
#include "slipring/placement/scheme.h"
#include "slipring/topology/routing.h"
#include "slipring/topology/snapshot_file.h"

using slipring::Code;
using slipring::fail;
using slipring::Status;

struct slipring_snapshot {
  slipring::Snapshot snapshot;
  std::vector<std::shared_ptr<const slipring::PoolRouting>> pools;
};

struct slipring_placement {
  std::unique_ptr<const slipring::Scheme> scheme;
};

namespace {

thread_local std::string last_error;

// Runs `work` (a Status) so that no exception leaves the library.
template <typename Work>
slipring_code guarded(Work work) noexcept {
  try {
    const Status status = work();
    if (status) return SLIPRING_OK;
    last_error = status.error().message;
    return static_cast<slipring_code>(status.error().code);
  } catch (const std::bad_alloc&) {
    last_error.clear();
    return SLIPRING_RESOURCE_EXHAUSTED;
  } catch (...) {
    last_error.clear();
    return SLIPRING_INTERNAL;
  }
}

std::string_view bytes(const void* key, size_t key_bytes) {
  return {static_cast<const char*>(key), key == nullptr ? 0 : key_bytes};
}

// "name=value" texts into a map.
Status read_pairs(const char* const* texts, std::map<std::string, std::string>* out) {
  for (; texts != nullptr && *texts != nullptr; ++texts) {
    auto pair = slipring::parse_option(*texts);
    if (!pair) return fail(pair.error());
    if (!out->insert(std::move(*pair)).second) {
      return fail(Code::kInvalidArgument, fmt::format("\"{}\": given twice", *texts));
    }
  }
  return {};
}

Status copy_text(const std::string& text, char* out, size_t out_bytes) {
  if (out == nullptr || text.size() + 1 > out_bytes) {
    return fail(Code::kOutOfRange, fmt::format("buffer of {} bytes: {} are needed", out_bytes, text.size() + 1));
  }
  std::memcpy(out, text.c_str(), text.size() + 1);
  return {};
}

Status copy_explanation(const slipring::Explanation& e, char* point, size_t point_bytes, char* range,
                        size_t range_bytes) {
  if (e.range.size() + 1 > range_bytes) return copy_text(e.range, range, range_bytes);  // nothing is written then
  SLIPRING_TRY(copy_text(e.point, point, point_bytes));
  return copy_text(e.range, range, range_bytes);
}

slipring::Result<slipring::Member> read_member(const slipring_member& given) {
  if (given.name == nullptr) return fail(Code::kInvalidArgument, "a member without a name");
  slipring::Member member;
  member.name = given.name;
  if (given.label != nullptr) member.label = given.label;
  if (given.zone != nullptr) member.zone = given.zone;
  member.weight_milli = given.weight_milli;
  if (auto read = read_pairs(given.attributes, &member.attributes); !read) {
    return slipring::fail_in(fmt::format("node {}: attribute", member.name), read.error());
  }
  return member;
}

Status check_pool(const slipring_snapshot* snapshot, size_t pool) {
  if (snapshot == nullptr) return fail(Code::kInvalidArgument, "no snapshot");
  if (pool >= snapshot->pools.size()) {
    return fail(Code::kNotFound, fmt::format("pool {}: there are {}", pool, snapshot->pools.size()));
  }
  return {};
}

}  // namespace

extern "C" {

uint32_t slipring_abi_version(void) {
  return SLIPRING_ABI_VERSION;
}

const char* slipring_last_error(void) {
  return last_error.c_str();
}

slipring_code slipring_snapshot_open(const char* path, slipring_snapshot** out) {
  return guarded([&]() -> Status {
    if (path == nullptr || out == nullptr) return fail(Code::kInvalidArgument, "path and out must be given");
    auto made = std::make_unique<slipring_snapshot>();
    SLIPRING_ASSIGN(made->snapshot, slipring::read_snapshot_file(path));
    for (const slipring::Pool& pool : made->snapshot.pools) {
      SLIPRING_ASSIGN(auto routing, slipring::PoolRouting::compile(pool));
      made->pools.push_back(std::move(routing));
    }
    *out = made.release();
    return {};
  });
}

void slipring_snapshot_close(slipring_snapshot* snapshot) {
  delete snapshot;
}

uint64_t slipring_snapshot_epoch(const slipring_snapshot* snapshot) {
  return snapshot == nullptr ? 0 : slipring::to_u64(snapshot->snapshot.epoch);
}

size_t slipring_snapshot_pool_count(const slipring_snapshot* snapshot) {
  return snapshot == nullptr ? 0 : snapshot->pools.size();
}

const char* slipring_snapshot_pool_name(const slipring_snapshot* snapshot, size_t pool) {
  if (pool >= slipring_snapshot_pool_count(snapshot)) return nullptr;
  return snapshot->snapshot.pools[pool].name.c_str();
}

slipring_code slipring_snapshot_find_pool(const slipring_snapshot* snapshot, const char* name, size_t* out) {
  return guarded([&]() -> Status {
    if (snapshot == nullptr || out == nullptr) return fail(Code::kInvalidArgument, "snapshot and out must be given");
    const auto& pools = snapshot->snapshot.pools;
    if (name == nullptr && pools.size() != 1) {
      return fail(Code::kInvalidArgument, fmt::format("there are {} pools: name one", pools.size()));
    }
    for (size_t i = 0; i < pools.size(); ++i) {
      if (name != nullptr && pools[i].name != name) continue;
      *out = i;
      return {};
    }
    return fail(Code::kNotFound, fmt::format("pool \"{}\": not in the snapshot", name));
  });
}

slipring_code slipring_snapshot_locate(const slipring_snapshot* snapshot, size_t pool, const void* key,
                                       size_t key_bytes, slipring_location* out) {
  return guarded([&]() -> Status {
    SLIPRING_TRY(check_pool(snapshot, pool));
    if (out == nullptr) return fail(Code::kInvalidArgument, "out must be given");
    const slipring::PoolRouting& routing = *snapshot->pools[pool];
    const slipring::Decision d = routing.decide(bytes(key, key_bytes));
    const bool moving = d.source != d.target;
    *out = {.node = routing.node_name(d.owner).c_str(),
            .address = routing.instances()[d.owner].address.c_str(),
            .source = moving ? routing.node_name(d.source).c_str() : nullptr,
            .target = moving ? routing.node_name(d.target).c_str() : nullptr,
            .epoch = slipring::to_u64(snapshot->snapshot.epoch)};
    return {};
  });
}

slipring_code slipring_snapshot_explain(const slipring_snapshot* snapshot, size_t pool, const void* key,
                                        size_t key_bytes, char* point, size_t point_bytes, char* range,
                                        size_t range_bytes) {
  return guarded([&]() -> Status {
    SLIPRING_TRY(check_pool(snapshot, pool));
    const slipring::PoolRouting& routing = *snapshot->pools[pool];
    const slipring::Decision d = routing.decide(bytes(key, key_bytes));
    const bool by_new = d.source != d.target && d.owner == d.target;
    const slipring::Scheme& scheme = by_new ? *routing.new_scheme() : routing.old_scheme();
    return copy_explanation(scheme.explain(bytes(key, key_bytes)), point, point_bytes, range, range_bytes);
  });
}

slipring_code slipring_placement_new(const char* scheme, const char* const* options, const slipring_member* members,
                                     size_t member_count, slipring_placement** out) {
  return guarded([&]() -> Status {
    if (scheme == nullptr || out == nullptr || (members == nullptr && member_count > 0)) {
      return fail(Code::kInvalidArgument, "scheme, members and out must be given");
    }
    slipring::SchemeSpec spec = {.name = scheme, .options = {}};
    SLIPRING_TRY(read_pairs(options, &spec.options));
    std::vector<slipring::Member> list;
    for (size_t i = 0; i < member_count; ++i) {
      SLIPRING_ASSIGN(slipring::Member member, read_member(members[i]));
      list.push_back(std::move(member));
    }
    auto made = std::make_unique<slipring_placement>();
    SLIPRING_ASSIGN(made->scheme, slipring::make_scheme(spec, list));
    *out = made.release();
    return {};
  });
}

void slipring_placement_free(slipring_placement* placement) {
  delete placement;
}

uint32_t slipring_placement_owner(const slipring_placement* placement, const void* key, size_t key_bytes) {
  return placement == nullptr ? SLIPRING_NO_NODE : placement->scheme->owner(bytes(key, key_bytes));
}

void slipring_placement_owners(const slipring_placement* placement, const void* const* keys, const size_t* key_bytes,
                               size_t count, uint32_t* owners) {
  constexpr size_t kGroup = 256;
  std::string_view views[kGroup];
  for (size_t begin = 0; begin < count; begin += kGroup) {
    const size_t n = std::min(kGroup, count - begin);
    for (size_t i = 0; i < n; ++i) views[i] = bytes(keys[begin + i], key_bytes[begin + i]);
    placement->scheme->owners({views, n}, {owners + begin, n});
  }
}

size_t slipring_placement_list(const slipring_placement* placement, const void* key, size_t key_bytes, uint32_t* nodes,
                               size_t capacity) {
  if (placement == nullptr || nodes == nullptr) return 0;
  return placement->scheme->preference_list(bytes(key, key_bytes), {nodes, capacity});
}

slipring_code slipring_placement_explain(const slipring_placement* placement, const void* key, size_t key_bytes,
                                         char* point, size_t point_bytes, char* range, size_t range_bytes) {
  return guarded([&]() -> Status {
    if (placement == nullptr) return fail(Code::kInvalidArgument, "no placement");
    return copy_explanation(placement->scheme->explain(bytes(key, key_bytes)), point, point_bytes, range, range_bytes);
  });
}

}  // extern "C"
