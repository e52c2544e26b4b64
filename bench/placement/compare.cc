// Placement look-ups compared in one run: Slipring's ring search against std::lower_bound and std::map, whole look-ups
// against libmemcached's weighted ketama and a Maglev table, builds and memory.
//
// Every measurement of a group is a loop of some milliseconds of CPU time; the loops of a group take turns for many
// rounds, and the 10th percentile of a loop's rounds counts, so that noise of a shared machine falls on all alike.
// Every structure's answers are checked against std::lower_bound before it is timed.
// Output: a table for people, or with --json one object a line. --quick: fewer rounds, for a smoke test.
#include <fmt/format.h>
#include <libmemcached/memcached.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "slipring/base/check.h"
#include "slipring/base/random.h"
#include "slipring/hash/xx.h"
#include "slipring/placement/point_ring.h"
#include "slipring/placement/scheme.h"

namespace slipring {
namespace {

struct Settings {
  bool json = false;
  int rounds = 60;
};

struct Case {
  std::string name;
  std::function<uint64_t()> loop;  // answers a sum over all look-ups, so that nothing is optimised away
  size_t lookups = 0;
  std::vector<double> ns;
};

double tenth_percentile(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 10];
}

// Of this thread on a CPU: what other programs of the machine take does not count.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double seconds_of(const std::function<void()>& work) {
  const double start = cpu_seconds();
  work();
  return cpu_seconds() - start;
}

volatile uint64_t sink;

class Group {
 public:
  explicit Group(std::string title) : title_(std::move(title)) {}

  void add(std::string name, size_t lookups, std::function<uint64_t()> loop) {
    cases_.push_back(Case{std::move(name), std::move(loop), lookups, {}});
  }

  void run(const Settings& settings) {
    for (int round = 0; round < settings.rounds; ++round) {
      for (Case& c : cases_) {
        sink = sink + c.loop();  // untimed: brings this loop's data into the caches that the loop before has filled
        const double seconds = seconds_of([&] { sink = sink + c.loop(); });
        c.ns.push_back(seconds * 1e9 / static_cast<double>(c.lookups));
      }
    }
    print(settings);
  }

 private:
  void print(const Settings& settings) const {
    if (!settings.json) fmt::print("\n## {}\n| | ns a look-up | ratio to the first |\n|---|---|---|\n", title_);
    const double base = tenth_percentile(cases_.front().ns);
    for (const Case& c : cases_) {
      const double ns = tenth_percentile(c.ns);
      if (settings.json) {
        fmt::print("{{\"group\":\"{}\",\"case\":\"{}\",\"ns\":{:.2f},\"ratio\":{:.4f},\"speedup\":{:.2f}}}\n", title_,
                   c.name, ns, ns / base, base / ns);
      } else {
        fmt::print("| {} | {:.2f} | {:.3f} ({:.1f} times as fast) |\n", c.name, ns, ns / base, base / ns);
      }
    }
    std::fflush(stdout);
  }

  std::string title_;
  std::vector<Case> cases_;
};

constexpr size_t kHashes = 1 << 16;

template <typename Point>
std::vector<RingPoint<Point>> random_points(size_t nodes, size_t vnodes) {
  Random random(nodes * 1000003 + vnodes);
  std::vector<RingPoint<Point>> points;
  for (uint32_t n = 0; n < nodes; ++n) {
    for (size_t v = 0; v < vnodes; ++v)
      points.push_back({static_cast<Point>(random.next() >> (64 - 8 * sizeof(Point))), n});
  }
  return points;
}

template <typename Point>
std::vector<Point> random_hashes() {
  Random random(99);
  std::vector<Point> hashes(kHashes);
  for (Point& h : hashes) h = static_cast<Point>(random.next() >> (64 - 8 * sizeof(Point)));
  return hashes;
}

// The textbook structures over the same points.
template <typename Point>
struct Textbook {
  explicit Textbook(std::vector<RingPoint<Point>> points) {
    const auto less = [](const RingPoint<Point>& a, const RingPoint<Point>& b) { return a.point < b.point; };
    std::stable_sort(points.begin(), points.end(), less);
    for (const auto& p : points) {
      sorted.push_back(p.point);
      owners.push_back(p.member);
      tree.emplace(p.point, p.member);
    }
  }
  uint32_t by_bisection(Point h) const {
    const auto it = std::lower_bound(sorted.begin(), sorted.end(), h);
    return owners[it == sorted.end() ? 0 : static_cast<size_t>(it - sorted.begin())];
  }
  uint32_t by_tree(Point h) const {
    const auto it = tree.lower_bound(h);
    return it == tree.end() ? tree.begin()->second : it->second;
  }
  std::vector<Point> sorted;
  std::vector<uint32_t> owners;
  std::map<Point, uint32_t> tree;
};

template <typename Point>
void compare_search(size_t nodes, size_t vnodes, const Settings& settings) {
  const auto points = random_points<Point>(nodes, vnodes);
  const Textbook<Point> textbook(points);
  const PointRing<Point> ring(points, Ties::kKeepInOrder);
  const auto hashes = random_hashes<Point>();
  for (const Point h : hashes) {
    SLIPRING_CHECK(ring.owner_at_or_after(h) == textbook.by_bisection(h), "the search is exact");
  }
  Group group(fmt::format("ring search, {} x {} points of {} bits", nodes, vnodes, sizeof(Point) * 8));
  group.add("std::lower_bound", kHashes, [&] {
    uint64_t sum = 0;
    for (const Point h : hashes) sum += textbook.by_bisection(h);
    return sum;
  });
  group.add("std::map", kHashes, [&] {
    uint64_t sum = 0;
    for (const Point h : hashes) sum += textbook.by_tree(h);
    return sum;
  });
  group.add("slipring ring", kHashes, [&] {
    uint64_t sum = 0;
    for (const Point h : hashes) sum += ring.owner_at_or_after(h);
    return sum;
  });
  std::vector<NodeIndex> owners(kHashes);
  group.add("slipring ring, batch", kHashes, [&] {
    ring.owners_at_or_after_all(hashes, owners);
    uint64_t sum = 0;
    for (const NodeIndex owner : owners) sum += owner;
    return sum;
  });
  group.add("slipring ring, each key waits for the answer before", kHashes, [&] {
    uint64_t sum = 0;
    uint32_t last = 0;
    for (const Point h : hashes) {
      last = ring.owner_at_or_after(h ^ (last & 1));
      sum += last;
    }
    return sum;
  });
  group.run(settings);
}

std::vector<Member> fleet(size_t n) {
  std::vector<Member> members;
  for (size_t i = 0; i < n; ++i) members.push_back({.name = fmt::format("10.0.{}.{}", i / 250, i % 250 + 1)});
  return members;
}

std::shared_ptr<const Scheme> scheme_of(const SchemeSpec& spec, size_t nodes) {
  auto made = make_scheme(spec, fleet(nodes));
  if (!made) fmt::print(stderr, "{}\n", made.error().message);
  SLIPRING_CHECK(made.has_value(), "a scheme of this benchmark");
  return std::move(*made);
}

// libmemcached's weighted ketama over the same hosts.
class Libmemcached {
 public:
  explicit Libmemcached(size_t nodes) : handle_(memcached_create(nullptr)) {
    memcached_behavior_set(handle_, MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED, 1);
    memcached_server_list_st list = nullptr;
    memcached_return_t status = MEMCACHED_SUCCESS;
    for (const Member& m : fleet(nodes)) {
      list = memcached_server_list_append_with_weight(list, m.name.c_str(), 11211, 1, &status);
    }
    memcached_server_push(handle_, list);
    memcached_server_list_free(list);
  }
  ~Libmemcached() { memcached_free(handle_); }
  uint32_t owner(std::string_view key) const { return memcached_generate_hash(handle_, key.data(), key.size()); }

 private:
  memcached_st* handle_;
};

// Keys of 24 bytes.
std::vector<std::string> keys_of(size_t n) {
  Random random(5);
  std::vector<std::string> keys;
  for (size_t i = 0; i < n; ++i) keys.push_back(fmt::format("user:{:019}", random.next() >> 1));
  return keys;
}

class WholeLookups {
 public:
  WholeLookups(std::string title)
      : group_(std::move(title)), keys_(keys_of(1 << 14)), views_(keys_.begin(), keys_.end()) {}

  template <typename Owner>
  void add(std::string name, Owner owner) {
    group_.add(std::move(name), views_.size(), [this, owner] {
      uint64_t sum = 0;
      for (const std::string_view key : views_) sum += owner(key);
      return sum;
    });
  }
  void add_batch(std::string name, const Scheme* scheme) {
    group_.add(std::move(name), views_.size(), [this, scheme] {
      owners_.resize(views_.size());
      scheme->owners(views_, owners_);
      uint64_t sum = 0;
      for (const NodeIndex owner : owners_) sum += owner;
      return sum;
    });
  }
  void run(const Settings& settings) { group_.run(settings); }
  std::span<const std::string_view> keys() const { return views_; }

 private:
  Group group_;
  std::vector<std::string> keys_;
  std::vector<std::string_view> views_;
  std::vector<NodeIndex> owners_;
};

// libmemcached 1.1.4 ends the process above 100 or so servers of weighted ketama.
constexpr size_t kLibmemcachedServersMax = 100;

void compare_whole_lookups(size_t nodes, const Settings& settings) {
  const Libmemcached theirs(std::min(nodes, kLibmemcachedServersMax));
  const auto ketama = scheme_of({.name = "libmemcached", .options = {{"ketama_weighted", "true"}}}, nodes);
  const auto ring = scheme_of({.options = {{"vnodes", "160"}}}, nodes);
  const auto fine = scheme_of({}, nodes);
  const auto grown = scheme_of({.options = {{"vnodes", "160"}}}, nodes + 1);
  const auto maglev = scheme_of({.name = "maglev"}, nodes);
  const OwnershipMap table = *maglev->ownership();
  std::vector<uint32_t> plain_table;
  for (const OwnedRange& slot : table.ranges) plain_table.push_back(slot.owner);
  WholeLookups group(fmt::format("whole look-up, 24-byte keys, {} servers", nodes));
  const bool both = nodes <= kLibmemcachedServersMax;
  for (const std::string_view key : group.keys()) {
    SLIPRING_CHECK(!both || ketama->owner(key) == theirs.owner(key), "our ketama is theirs, key for key");
  }
  if (both) group.add("libmemcached weighted ketama", [&](std::string_view key) { return theirs.owner(key); });
  group.add("slipring's libmemcached scheme (MD5 ketama)", [&](std::string_view key) { return ketama->owner(key); });
  group.add("slipring ring, 160 vnodes", [&](std::string_view key) { return ring->owner(key); });
  group.add("slipring ring, 512 vnodes (default)", [&](std::string_view key) { return fine->owner(key); });
  group.add("slipring ring, two placements (during a plan)",
            [&](std::string_view key) { return ring->owner(key) + grown->owner(key); });
  group.add("Maglev table, XXH3 inline, no interface",
            [&](std::string_view key) { return plain_table[xxh3_64(key) % plain_table.size()]; });
  group.add("slipring maglev", [&](std::string_view key) { return maglev->owner(key); });
  group.add_batch("slipring ring, 160 vnodes, batch", ring.get());
  group.run(settings);
}

// Best of three builds, and the memory of the search structure.
void print_build(size_t nodes, size_t vnodes, const Settings& settings) {
  const auto members = fleet(nodes);
  const SchemeSpec spec = {.options = {{"vnodes", std::to_string(vnodes)}}};
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    best = std::min(best, seconds_of([&] { sink = sink + (*make_scheme(spec, members))->owner("k"); }));
  }
  const double mib =
      static_cast<double>(
          PointRing<uint64_t>(random_points<uint64_t>(nodes, vnodes), Ties::kKeepInOrder).memory_bytes()) /
      (1 << 20);
  if (settings.json) {
    fmt::print("{{\"build\":\"{} x {}\",\"ms\":{:.2f},\"mib\":{:.2f}}}\n", nodes, vnodes, best * 1e3, mib);
  } else {
    fmt::print("| {} x {} | {:.2f} | {:.2f} |\n", nodes, vnodes, best * 1e3, mib);
  }
}

// Changes of one node, made from the ring before and anew, in turns; the best of five each.
void compare_changes(size_t nodes, size_t vnodes, const Settings& settings) {
  const SchemeSpec spec = {.options = {{"vnodes", std::to_string(vnodes)}}};
  const auto before = fleet(nodes);
  const auto old = scheme_of(spec, nodes);
  auto added = before;
  added.push_back({.name = "one-more"});
  auto removed = before;
  removed.erase(removed.begin() + static_cast<std::ptrdiff_t>(nodes / 2));
  auto weighted = before;
  weighted[nodes / 3].weight_milli = 500;
  if (!settings.json) {
    fmt::print("\n## a change of one node of {} x {}, ms\n| | anew | from the ring before | |\n|---|---|---|---|\n",
               nodes, vnodes);
  }
  const std::pair<const char*, const std::vector<Member>*> changes[] = {
      {"add", &added}, {"remove", &removed}, {"weight", &weighted}};
  for (const auto& [name, after] : changes) {
    double anew = 1e9;
    double from_before = 1e9;
    for (int i = 0; i < 5; ++i) {
      anew = std::min(anew, seconds_of([&] { sink = sink + (*make_scheme(spec, *after))->owner("k"); }));
      from_before = std::min(from_before, seconds_of([&] {
                               sink = sink + (*remake_scheme({*old, spec, before}, spec, *after))->owner("k");
                             }));
    }
    if (settings.json) {
      fmt::print("{{\"change\":\"{}\",\"anew_ms\":{:.2f},\"ms\":{:.2f},\"speedup\":{:.2f}}}\n", name, anew * 1e3,
                 from_before * 1e3, anew / from_before);
    } else {
      fmt::print("| {} | {:.2f} | {:.2f} | {:.1f} times as fast |\n", name, anew * 1e3, from_before * 1e3,
                 anew / from_before);
    }
  }
}

void run_all(const Settings& settings) {
  compare_search<uint64_t>(100, 160, settings);
  compare_search<uint64_t>(100, 512, settings);
  compare_search<uint64_t>(1000, 160, settings);
  compare_search<uint64_t>(10000, 160, settings);
  compare_search<uint32_t>(100, 160, settings);
  compare_search<uint32_t>(1000, 160, settings);
  compare_search<uint32_t>(10000, 160, settings);
  compare_whole_lookups(100, settings);
  compare_whole_lookups(1000, settings);
  if (!settings.json) fmt::print("\n## build of `ring`\n| nodes x vnodes | ms | MiB |\n|---|---|---|\n");
  print_build(100, 160, settings);
  print_build(100, 512, settings);
  print_build(1000, 160, settings);
  print_build(10000, 160, settings);
  compare_changes(10000, 160, settings);
}

}  // namespace
}  // namespace slipring

int main(int argc, char** argv) {
  slipring::Settings settings;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) settings.json = true;
    if (std::strcmp(argv[i], "--quick") == 0) settings.rounds = 10;
  }
  slipring::run_all(settings);
}
