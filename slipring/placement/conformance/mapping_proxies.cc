// HTTP proxies: nginx, HAProxy, Varnish, Squid, Apache Traffic Server.
#include <fmt/format.h>

#include "slipring/placement/conformance/mapping.h"

namespace slipring::conformance {
namespace {

// Fills in members s0, s1, ... by `make` and the owners.
template <typename MakeMember>
Result<VectorCase> proxy_case(VectorLine& line, SchemeSpec spec, MakeMember make) {
  VectorCase mapped;
  mapped.spec = std::move(spec);
  for (size_t i = 0; i < line.servers.size(); ++i) {
    Member member;
    member.name = member_name(i);
    SLIPRING_TRY(take_weight(&line.servers[i], &member));
    SLIPRING_TRY(make(&line.servers[i], &member));
    mapped.members.push_back(std::move(member));
  }
  mapped.keys = std::move(line.keys);
  mapped.checks.push_back({.kind = Check::Kind::kRank, .rank = 0, .expected = line.take_column("owners")});
  return mapped;
}

Result<std::string> take_host_only(Fields* server) {
  server->ignore({"port"});
  return server->take_required("host");
}

// The directive's text: no port where none was written.
Status nginx_server(Fields* server, Member* member) {
  server->ignore({"name"});
  if (const auto down = server->take("down")) member->attributes["down"] = *down;
  SLIPRING_ASSIGN(member->label, server->take_required("host"));
  if (const auto port = server->take("port")) member->label += ":" + *port;
  return {};
}

Result<VectorCase> map_nginx(VectorLine& line) {
  if (line.algorithm != "hash consistent" && line.algorithm != "hash modulo")
    return fail(Code::kInvalidArgument, fmt::format("algorithm \"{}\": unknown", line.algorithm));
  line.options.ignore({"key_variable"});
  const char* method = line.algorithm == "hash consistent" ? "consistent" : "hash";
  return proxy_case(line, {"nginx", {{"method", method}}}, nginx_server);
}

Status haproxy_server(Fields* server, Member* member) {
  SLIPRING_TRY(take_host_only(server));
  if (const auto id = server->take("id")) member->attributes["id"] = *id;
  if (const auto disabled = server->take("disabled")) member->attributes["disabled"] = *disabled;
  return {};
}

// "hash_type_line" says in HAProxy's words what hash and avalanche say.
Result<VectorCase> map_haproxy(VectorLine& line) {
  line.options.ignore({"balance", "hash_type_line"});
  SLIPRING_ASSIGN(std::string avalanche, line.options.take_required("avalanche"));
  return proxy_case(
      line, {"haproxy", {{"hash_type", line.algorithm}, {"function", line.hash}, {"avalanche", std::move(avalanche)}}},
      haproxy_server);
}

Status varnish_server(Fields* server, Member* member) {
  SLIPRING_TRY(take_host_only(server));
  SLIPRING_ASSIGN(member->label, server->take_required("name"));
  return {};
}

Result<VectorCase> map_varnish(VectorLine& line) {
  SchemeSpec spec = {"varnish-shard", {}};
  const bool number = line.options.take_or("int_key", "false") == "true";
  if (line.algorithm == "shard by=KEY") {
    spec.options["by"] = number ? "number" : "key";
  } else if (line.algorithm == "shard by=URL") {
    spec.options["by"] = "url";
  } else if (line.algorithm == "shard by=HASH") {
    spec.options["by"] = "hash";
  } else {
    return fail(Code::kInvalidArgument, fmt::format("algorithm \"{}\": unknown", line.algorithm));
  }
  if (const auto value = line.options.take("context")) spec.options["side"] = *value;
  if (const auto value = line.options.take("host_header")) spec.options["host"] = *value;
  if (const auto value = line.options.take("replicas")) spec.options["replicas"] = *value;
  if (const auto value = line.options.take("alt")) spec.options["alt"] = *value;
  line.options.ignore({"identity"});
  return proxy_case(line, std::move(spec), varnish_server);
}

// A peer without a name is named after its host.
Status named_or_host(Fields* server, Member* member) {
  SLIPRING_ASSIGN(const std::string host, take_host_only(server));
  member->label = server->take_or("name", host);
  return {};
}

Result<VectorCase> map_squid(VectorLine& line) {
  SchemeSpec spec = {"squid-carp", {}};
  if (const auto parts = line.options.take("carp_key")) spec.options["carp_key"] = *parts;
  return proxy_case(line, std::move(spec), named_or_host);
}

Result<VectorCase> map_trafficserver(VectorLine& line) {
  return proxy_case(line, {"trafficserver", {{"qstring", line.options.take_or("qstring", "consider")}}}, named_or_host);
}

}  // namespace

std::vector<MappedSystem> proxy_mappings() {
  return {
      {"haproxy", map_haproxy}, {"nginx", map_nginx}, {"squid", map_squid}, {"trafficserver", map_trafficserver},
      {"varnish", map_varnish},
  };
}

}  // namespace slipring::conformance
