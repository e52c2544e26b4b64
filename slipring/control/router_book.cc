#include "slipring/control/router_book.h"

#include <fmt/format.h>

#include <algorithm>

#include "slipring/base/bytes.h"
#include "slipring/base/parse.h"
#include "slipring/base/secret.h"
#include "slipring/placement/scheme.h"
#include "slipring/store/redis/users.h"

namespace slipring::control {
namespace {

constexpr std::string_view kCounterKey = "generation";
constexpr std::string_view kRouterPrefix = "router/";
constexpr uint8_t kBookFormat = 1;
constexpr size_t kBookTextMax = 512;

void put(ByteWriter& out, const channel::Credentials& c) {
  out.u64(c.generation);
  out.str(c.user);
  out.str(c.password);
}

channel::Credentials get(ByteReader& in) {
  channel::Credentials c;
  c.generation = in.u64();
  c.user = in.str(kBookTextMax);
  c.password = in.str(kBookTextMax);
  return c;
}

bool keeps(std::span<const uint64_t> keep, uint64_t generation) {
  return std::find(keep.begin(), keep.end(), generation) != keep.end();
}

}  // namespace

std::string encode(const RouterRecord& record) {
  ByteWriter out;
  out.u8(kBookFormat);
  out.str(record.id);
  out.str(record.listen);
  put(out, record.active);
  put(out, record.spare);
  return out.take();
}

Result<RouterRecord> decode_router(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.u8() != kBookFormat) return fail(Code::kDataLoss, "router record: unknown format");
  RouterRecord record;
  record.id = in.str(kBookTextMax);
  record.listen = in.str(kBookTextMax);
  record.active = get(in);
  record.spare = get(in);
  if (!in.done()) return fail(Code::kDataLoss, "router record: damaged");
  return record;
}

Status RouterBook::load() {
  SLIPRING_ASSIGN(const auto counter, store_.get(kCounterKey));
  if (counter) {
    SLIPRING_ASSIGN(last_, parse_u64(counter->value, 0, UINT64_MAX));
  }
  SLIPRING_ASSIGN(const std::vector<Record> records, store_.list(kRouterPrefix));
  routers_.clear();
  for (const Record& record : records) {
    auto router = decode_router(record.value);
    if (!router) return fail_in(record.key, router.error());
    routers_[router->id] = std::move(*router);
  }
  return {};
}

channel::Credentials RouterBook::make(const std::string& id, uint64_t& last) const {
  ++last;
  return {last, redis::router_user(cluster_id_, id, last), random_secret()};
}

Status RouterBook::write(std::vector<RouterRecord> changed, uint64_t last) {
  if (changed.empty()) return {};
  Transaction transaction;
  transaction.writes.push_back({std::string(kCounterKey), std::to_string(last)});
  for (const RouterRecord& record : changed) {
    transaction.writes.push_back({std::string(kRouterPrefix) + record.id, encode(record)});
  }
  auto revision = keeper_.commit(std::move(transaction));
  if (!revision) {
    // Whether it was written is not always known: what the store holds counts.
    if (revision.error().code == Code::kDeadlineExceeded) SLIPRING_TRY(load());
    return fail_in("routers' generations", revision.error());
  }
  last_ = last;
  for (RouterRecord& record : changed) routers_[record.id] = std::move(record);
  return {};
}

Result<RouterRecord> RouterBook::enroll(const std::string& id, const std::string& listen, uint64_t generation) {
  SLIPRING_TRY(check_node_name(id));
  const auto known = routers_.find(id);
  if (known == routers_.end() && routers_.size() >= kRoutersMax) {
    return fail(Code::kResourceExhausted,
                fmt::format("{} routers are known already; forget those that are gone", kRoutersMax));
  }
  RouterRecord record = known == routers_.end() ? RouterRecord{} : known->second;
  uint64_t last = last_;
  record.id = id;
  record.listen = listen;
  const bool on_spare = generation != 0 && generation == record.spare.generation;
  const bool on_active = generation != 0 && generation == record.active.generation;
  if (on_spare) record.active = std::exchange(record.spare, {});
  // Running on neither: a new process, or one that was fenced. Nothing it had before is trusted again.
  if (!on_spare && !on_active) record.active = make(id, last);
  if (!on_active || record.spare.generation == 0) record.spare = make(id, last);
  SLIPRING_TRY(write({record}, last));
  return record;
}

Result<RouterRecord> RouterBook::replenish(const std::string& id, bool active) {
  const auto known = routers_.find(id);
  if (known == routers_.end()) return fail(Code::kNotFound, fmt::format("router {} is not known", id));
  RouterRecord record = known->second;
  uint64_t last = last_;
  if (active && record.active.generation == 0) record.active = make(id, last);
  if (record.spare.generation == 0) record.spare = make(id, last);
  if (last != last_) SLIPRING_TRY(write({record}, last));
  return record;
}

Result<std::vector<uint64_t>> RouterBook::strike_all_but(std::span<const uint64_t> keep) {
  std::vector<uint64_t> struck;
  std::vector<RouterRecord> changed;
  for (const auto& [id, known] : routers_) {
    RouterRecord record = known;
    for (channel::Credentials* c : {&record.active, &record.spare}) {
      if (c->generation == 0 || keeps(keep, c->generation)) continue;
      struck.push_back(c->generation);
      *c = {};
    }
    if (!(record == known)) changed.push_back(std::move(record));
  }
  SLIPRING_TRY(write(std::move(changed), last_));
  return struck;
}

Status RouterBook::forget(const std::string& id) {
  if (!routers_.contains(id)) return fail(Code::kNotFound, fmt::format("router {} is not known", id));
  Transaction transaction;
  transaction.writes.push_back({std::string(kRouterPrefix) + id, std::nullopt});
  auto revision = keeper_.commit(std::move(transaction));
  if (!revision) return fail_in("router " + id, revision.error());
  routers_.erase(id);
  return {};
}

std::vector<channel::Credentials> RouterBook::live() const {
  std::vector<channel::Credentials> all;
  for (const auto& [id, record] : routers_) {
    if (record.active.generation != 0) all.push_back(record.active);
    if (record.spare.generation != 0) all.push_back(record.spare);
  }
  return all;
}

}  // namespace slipring::control
