#include "slipring/rebalance/preflight.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace slipring::rebalance {
namespace {

class Judge {
 public:
  explicit Judge(const PreflightInput& input) : input_(input) {}

  std::vector<Finding> run() {
    for (const std::string& reason : input_.unreachable) {
      add(Severity::kRefuse, "unreachable", reason.substr(0, reason.find(':')), reason,
          "start the server, or correct its address and credentials");
    }
    for (const std::string& reason : input_.without_acl) {
      add(Severity::kRefuse, "fence", reason.substr(0, reason.find(':')), reason,
          "give a server that has ACL; a pool of servers without it is made with fence = \"names\"");
    }
    for (const PreflightServer& server : input_.servers) judge(server);
    judge_persistence();
    for (const PayloadProbe& probe : input_.probes) judge_probe(probe);
    return std::move(findings_);
  }

 private:
  static std::string subject(const PreflightServer& s) { return fmt::format("node {} ({})", s.node, s.facts.address); }

  void add(Severity severity, std::string check, std::string about, std::string message, std::string todo) {
    findings_.push_back({severity, std::move(check), std::move(about), std::move(message), std::move(todo)});
  }

  void judge(const PreflightServer& s) {
    judge_role(s);
    judge_version(s);
    judge_contents(s);
    judge_memory(s);
    judge_neighbours(s);
    if (auto feed = check_psync_feed(subject(s), s.facts)) findings_.push_back(std::move(*feed));
  }

  void judge_role(const PreflightServer& s) {
    const ServerFacts& f = s.facts;
    if (f.identity.role != "master") {
      add(Severity::kRefuse, "role", subject(s),
          fmt::format("its role is \"{}\": a replica takes no writes", f.identity.role),
          "give the address of the primary, or end its replication with REPLICAOF NO ONE");
    }
    if (f.loading) {
      add(Severity::kRefuse, "loading", subject(s), "it is still loading its data", "wait until it has loaded");
    }
    if (f.cluster_mode) {
      add(Severity::kRefuse, "cluster_mode", subject(s), "it runs in Redis Cluster mode and redirects clients itself",
          "use a server with cluster-enabled no");
    }
    if (std::llabs(f.clock_ahead_ms) > kClockAheadMsMax) {
      add(Severity::kRefuse, "clock", subject(s),
          fmt::format("its clock is {} ms {} of the controller's, so expiry times would shift",
                      std::llabs(f.clock_ahead_ms), f.clock_ahead_ms > 0 ? "ahead" : "behind"),
          "synchronise the clocks (NTP)");
    }
  }

  void judge_version(const PreflightServer& s) {
    const std::string major = s.facts.version.substr(0, s.facts.version.find('.'));
    if (major.size() == 1 && major < "7") {
      add(Severity::kRefuse, "version", subject(s),
          fmt::format("it is version {}; keys are moved with commands that Redis 7.0 brought", s.facts.version),
          "use Redis 7.0 or later, or Valkey");
    }
    if (input_.fence == PoolFence::kNames && s.facts.has_acl) {
      add(Severity::kNote, "fence", subject(s),
          "it has ACL, but the pool is fenced by connection names, which is weaker",
          "a new pool with fence = \"acl\" would be fenced by the server itself");
    }
  }

  void judge_contents(const PreflightServer& s) {
    for (const auto& [database, keys] : s.facts.keys_by_database) {
      if (database == 0 || keys == 0) continue;
      add(Severity::kRefuse, "databases", subject(s),
          fmt::format("database {} holds {} keys; only database 0 is moved", database, keys),
          fmt::format("move them to database 0 or remove them: SELECT {}, then FLUSHDB if they are not needed",
                      database));
    }
    if (s.is_new && s.keys_of_ours > 0) {
      add(Severity::kRefuse, "not_empty", subject(s),
          fmt::format("it already holds {} keys that the pool would take for its own", s.keys_of_ours),
          "give an empty server, or FLUSHALL it if the keys are not needed");
    }
    for (const std::string& key : s.big_keys) {
      add(Severity::kRefuse, "big_key", subject(s),
          fmt::format("key {} is larger than {} bytes", key, input_.big_key_bytes),
          "split or remove it, or raise move.big_key_bytes knowing that DUMP blocks the server for its length");
    }
    if (s.is_source && s.facts.function_libraries > 0) {
      add(Severity::kWarn, "functions", subject(s),
          fmt::format("it has {} function libraries; they are not keys and do not move", s.facts.function_libraries),
          "load them on the new node: FUNCTION DUMP, then FUNCTION RESTORE");
    }
  }

  void judge_memory(const PreflightServer& s) {
    const ServerFacts& f = s.facts;
    if (input_.kind == PoolKind::kStore && f.max_memory_policy != "noeviction") {
      add(Severity::kRefuse, "maxmemory_policy", subject(s),
          fmt::format("maxmemory-policy is {}: it may throw away keys of a store pool", f.max_memory_policy),
          "CONFIG SET maxmemory-policy noeviction (and in its configuration file)");
    }
    const auto needed = static_cast<uint64_t>(static_cast<double>(s.bytes_to_receive) * kMemoryMargin);
    const uint64_t limit = f.max_memory_bytes != 0 ? f.max_memory_bytes : f.system_memory_bytes;
    if (limit != 0 && f.used_memory_bytes + needed > limit) {
      add(Severity::kRefuse, "memory", subject(s),
          fmt::format("it uses {} of {} bytes and would receive about {}", f.used_memory_bytes, limit, needed),
          "raise maxmemory, or add a larger node");
    }
  }

  void judge_neighbours(const PreflightServer& s) {
    if (input_.key_prefix.empty()) {
      constexpr size_t kNamed = 5;
      std::string names;
      for (size_t i = 0; i < std::min(s.facts.foreign_clients.size(), kNamed); ++i) {
        const ForeignClient& c = s.facts.foreign_clients[i];
        names += fmt::format("{}{} (user {}, name \"{}\", last command {})", i == 0 ? "" : ", ", c.address, c.user,
                             c.name, c.last_command);
      }
      if (!names.empty()) {
        add(Severity::kRefuse, "foreign_clients", subject(s),
            fmt::format("{} client connection{} past the routers: {}", s.facts.foreign_clients.size(),
                        s.facts.foreign_clients.size() == 1 ? "" : "s", names),
            "end them (a proxy that is taken over: docs/takeover.md), let them use a router, or give the pool a "
            "key_prefix if the server is shared");
      }
    }
    for (const ForeignClient& client : s.facts.foreign_clients) {
      if (!client.blocked) continue;
      add(Severity::kRefuse, "blocked_clients", subject(s),
          fmt::format("client {} waits in a blocking command; a copy would wake it and be consumed", client.address),
          "end that client, or let it use a router");
    }
    if (s.facts.background_save_running) {
      add(Severity::kNote, "background_save", subject(s), "a background save or rewrite is running",
          "the copy may be slower until it ends");
    }
  }

  // A target must persist at least as the weakest source does.
  static int persistence_rank(const ServerFacts& f) {
    if (f.append_only) return f.append_fsync == "always" ? 4 : f.append_fsync == "everysec" ? 3 : 2;
    return f.saves_rdb ? 1 : 0;
  }

  static std::string persistence_name(const ServerFacts& f) {
    if (f.append_only) return "appendonly yes, appendfsync " + f.append_fsync;
    return f.saves_rdb ? "RDB snapshots only" : "no persistence";
  }

  void judge_persistence() {
    if (input_.kind != PoolKind::kStore) return;
    const PreflightServer* strongest = nullptr;
    uint64_t replicas = 0;
    for (const PreflightServer& s : input_.servers) {
      if (!s.is_source) continue;
      if (strongest == nullptr || persistence_rank(s.facts) > persistence_rank(strongest->facts)) strongest = &s;
      replicas = std::max(replicas, s.facts.connected_replicas);
    }
    if (strongest == nullptr) return;
    const Severity severity = input_.accept_weaker ? Severity::kWarn : Severity::kRefuse;
    for (const PreflightServer& s : input_.servers) {
      if (!s.is_target) continue;
      if (persistence_rank(s.facts) < persistence_rank(strongest->facts)) {
        add(severity, "persistence", subject(s),
            fmt::format("it has {}, node {} has {}", persistence_name(s.facts), strongest->node,
                        persistence_name(strongest->facts)),
            "give it the same persistence, or say --accept-weaker");
      }
      if (s.facts.connected_replicas < replicas) {
        add(severity, "replicas", subject(s),
            fmt::format("it has {} replicas, a source has {}", s.facts.connected_replicas, replicas),
            "attach as many replicas, or say --accept-weaker");
      }
    }
  }

  void judge_probe(const PayloadProbe& probe) {
    if (probe.error.empty()) return;
    add(Severity::kRefuse, "payload_format", fmt::format("{} -> {}", probe.from, probe.to),
        fmt::format("a key of {} cannot be loaded by {}: {}", probe.from, probe.to, probe.error),
        "use servers whose versions read each other's DUMP payloads (both directions: rollback needs the way back)");
  }

  const PreflightInput& input_;
  std::vector<Finding> findings_;
};

}  // namespace

bool refuses(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& f) { return f.severity == Severity::kRefuse; });
}

std::vector<Finding> preflight(const PreflightInput& input) {
  return Judge(input).run();
}

std::optional<Finding> check_psync_feed(const std::string& subject, const ServerFacts& facts) {
  const auto refuse = [&](std::string message, std::string todo) {
    return Finding{Severity::kRefuse, "feed", subject, std::move(message), std::move(todo)};
  };
  if (facts.min_replicas_to_write > 0) {
    return refuse(
        fmt::format("min-replicas-to-write is {}: the feed would count as a replica", facts.min_replicas_to_write),
        "CONFIG SET min-replicas-to-write 0 for the time of the move");
  }
  if (facts.backlog_active) return std::nullopt;
  if (!facts.diskless_sync || facts.diskless_sync_delay_s < 2) {
    return refuse("it has no replication backlog, and without diskless sync delayed by at least 2 s opening one forks",
                  "CONFIG SET repl-diskless-sync yes, CONFIG SET repl-diskless-sync-delay 5");
  }
  if (facts.diskless_sync_max_replicas != 0) {
    return refuse(fmt::format("repl-diskless-sync-max-replicas is {}: a sync would start before its delay",
                              facts.diskless_sync_max_replicas),
                  "CONFIG SET repl-diskless-sync-max-replicas 0");
  }
  return std::nullopt;
}

}  // namespace slipring::rebalance
