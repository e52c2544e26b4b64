// Clients of memcached, and twemproxy: fleets of host, port and weight.
#include <fmt/format.h>

#include "slipring/placement/conformance/mapping.h"

namespace slipring::conformance {
namespace {

// Members with host:port as label and the weight; the recorded name means nothing unless it is not null.
Result<std::vector<Member>> members_by_address(VectorLine& line) {
  std::vector<Member> members;
  for (size_t i = 0; i < line.servers.size(); ++i) {
    Member member;
    member.name = member_name(i);
    SLIPRING_ASSIGN(member.label, take_address(&line.servers[i]));
    SLIPRING_TRY(take_weight(&line.servers[i], &member));
    members.push_back(std::move(member));
  }
  return members;
}

Result<VectorCase> owners_case(VectorLine& line, SchemeSpec spec) {
  VectorCase mapped;
  mapped.spec = std::move(spec);
  SLIPRING_ASSIGN(mapped.members, members_by_address(line));
  mapped.keys = std::move(line.keys);
  mapped.checks.push_back({.kind = Check::Kind::kRank, .rank = 0, .expected = line.take_column("owners")});
  return mapped;
}

tl::unexpected<Error> unknown_memcached(std::string_view what, const std::string& value) {
  return fail(Code::kInvalidArgument, fmt::format("{} \"{}\": unknown", what, value));
}

// A dead server is out of the pool only where auto_eject_hosts takes it out.
Result<Member> twemproxy_member(Fields* server, size_t i, bool ejecting) {
  Member member;
  member.name = member_name(i);
  const bool dead = server->take_or("dead", "false") == "true";
  if (dead && ejecting) member.attributes["ejected"] = "true";
  SLIPRING_ASSIGN(const std::string address, take_address(server));
  const std::optional<std::string> name = server->take("name");
  if (name) {
    member.label = *name;
  } else {
    member.attributes["address"] = address;
  }
  SLIPRING_TRY(take_weight(server, &member));
  return member;
}

Result<VectorCase> map_twemproxy(VectorLine& line) {
  VectorCase mapped;
  mapped.spec = {"twemproxy", {{"distribution", line.algorithm}, {"hash", line.hash}}};
  if (const auto tag = line.options.take("hash_tag")) mapped.spec.options["hash_tag"] = *tag;
  const bool ejecting = line.options.take_or("auto_eject_hosts", "false") == "true";
  line.options.ignore({"protocol"});
  for (size_t i = 0; i < line.servers.size(); ++i) {
    SLIPRING_ASSIGN(Member member, twemproxy_member(&line.servers[i], i, ejecting));
    mapped.members.push_back(std::move(member));
  }
  mapped.keys = std::move(line.keys);
  mapped.checks.push_back({.kind = Check::Kind::kRank, .rank = 0, .expected = line.take_column("owners")});
  return mapped;
}

// The distribution and hash are those that the client was told; "reported" is what it said of itself afterwards.
Result<VectorCase> map_libmemcached(VectorLine& line) {
  line.options.ignore({"reported"});
  SchemeSpec spec = {"libmemcached", {{"distribution", line.algorithm}, {"hash", line.hash}}};
  for (const char* flag : {"ketama_weighted", "sort_hosts"}) {
    if (const auto value = line.options.take(flag)) spec.options[flag] = *value;
  }
  return owners_case(line, std::move(spec));
}

Result<VectorCase> map_php_memcached(VectorLine& line) {
  SchemeSpec spec = {"php-memcached", {{"hash", line.hash}}};
  if (line.algorithm.starts_with("consistent")) {
    spec.options["algorithm"] = "consistent";
  } else if (line.algorithm == "libketama_compatible") {
    spec.options["algorithm"] = "libketama_compatible";
  } else if (line.algorithm == "default" || line.algorithm.starts_with("hash_")) {
    spec.options["algorithm"] = "modula";
  } else {
    return unknown_memcached("algorithm", line.algorithm);
  }
  return owners_case(line, std::move(spec));
}

Result<VectorCase> map_pylibmc(VectorLine& line) {
  SchemeSpec spec = {"pylibmc", {{"hash", line.hash}}};
  if (line.algorithm == "default") {
    spec.options["algorithm"] = "modula";
  } else {
    spec.options["algorithm"] = line.algorithm.substr(0, line.algorithm.find('+'));
  }
  return owners_case(line, std::move(spec));
}

Result<VectorCase> map_php_memcache(VectorLine& line) {
  return owners_case(line, {"php-memcache", {{"strategy", line.algorithm}, {"hash_function", line.hash}}});
}

Result<VectorCase> map_python_memcached(VectorLine& line) {
  return owners_case(line, {"python-memcached", {}});
}

Result<VectorCase> map_perl_cache_memcached(VectorLine& line) {
  return owners_case(line, {"perl-cache-memcached", {}});
}

Result<VectorCase> map_perl_cache_memcached_fast(VectorLine& line) {
  return owners_case(line,
                     {"perl-cache-memcached-fast", {{"ketama_points", line.options.take_or("ketama_points", "0")}}});
}

Result<VectorCase> map_dalli(VectorLine& line) {
  return owners_case(line, {"dalli", {}});
}

Result<VectorCase> map_pymemcache(VectorLine& line) {
  SLIPRING_TRY(line.options.take_choice("node_string", {"host:port"}));
  return owners_case(line, {"pymemcache", {{"key_type", line.options.take_or("key_type", "str")}}});
}

// Where the fleet was recorded, cacheN.example.com resolved to 127.0.1.N.
std::string recorded_ip(std::string_view host) {
  constexpr std::string_view kFront = "cache";
  if (!host.starts_with(kFront)) return {};
  const std::string_view number = host.substr(kFront.size(), host.find('.') - kFront.size());
  return fmt::format("127.0.1.{}", number);
}

Result<VectorCase> map_spymemcached(VectorLine& line) {
  SchemeSpec spec = {"spymemcached", {{"locator", line.algorithm}, {"hash", line.hash}}};
  const std::string format = line.options.take_or("key_format", "");
  if (!format.empty()) spec.options["key_format"] = format;
  SLIPRING_ASSIGN(VectorCase mapped, owners_case(line, std::move(spec)));
  for (Member& member : mapped.members) {
    const std::string ip = recorded_ip(member.label);
    if (!ip.empty()) member.attributes["ip"] = ip;
  }
  return mapped;
}

}  // namespace

std::vector<MappedSystem> memcached_mappings() {
  return {
      {"Cache::Memcached", map_perl_cache_memcached},
      {"Cache::Memcached::Fast", map_perl_cache_memcached_fast},
      {"dalli", map_dalli},
      {"libmemcached", map_libmemcached},
      {"php-memcache", map_php_memcache},
      {"php-memcached", map_php_memcached},
      {"pylibmc", map_pylibmc},
      {"pymemcache", map_pymemcache},
      {"python-memcached", map_python_memcached},
      {"spymemcached", map_spymemcached},
      {"twemproxy", map_twemproxy},
  };
}

}  // namespace slipring::conformance
