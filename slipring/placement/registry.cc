#include "slipring/placement/registry.h"

// Native schemes.
#include "slipring/placement/anchor.h"
#include "slipring/placement/dx.h"
#include "slipring/placement/jump.h"
#include "slipring/placement/maglev.h"
#include "slipring/placement/modulo.h"
#include "slipring/placement/multiprobe.h"
#include "slipring/placement/rendezvous.h"
#include "slipring/placement/ring.h"
#include "slipring/placement/slots.h"

// Other systems' proxies, servers and clients (a to z).
#include "slipring/placement/crc_modulo.h"
#include "slipring/placement/dalli.h"
#include "slipring/placement/haproxy.h"
#include "slipring/placement/libmemcached.h"
#include "slipring/placement/nginx.h"
#include "slipring/placement/npm_consistent_hash.h"
#include "slipring/placement/npm_hashring.h"
#include "slipring/placement/npm_ketama.h"
#include "slipring/placement/php_memcache.h"
#include "slipring/placement/pymemcache.h"
#include "slipring/placement/spymemcached.h"
#include "slipring/placement/squid_carp.h"
#include "slipring/placement/trafficserver.h"
#include "slipring/placement/twemproxy.h"
#include "slipring/placement/varnish_shard.h"

// Other systems' meshes, databases and libraries (a to z).
#include "slipring/placement/buraksezer.h"
#include "slipring/placement/cassandra.h"
#include "slipring/placement/cilium_maglev.h"
#include "slipring/placement/codis.h"
#include "slipring/placement/couchbase.h"
#include "slipring/placement/dynomite.h"
#include "slipring/placement/envoy_maglev.h"
#include "slipring/placement/envoy_ring_hash.h"
#include "slipring/placement/ex_hash_ring.h"
#include "slipring/placement/go_jump.h"
#include "slipring/placement/groupcache.h"
#include "slipring/placement/grpc_ring_hash.h"
#include "slipring/placement/katran.h"
#include "slipring/placement/mcrouter_ch3.h"
#include "slipring/placement/mcrouter_rendezvous.h"
#include "slipring/placement/redis_cluster.h"
#include "slipring/placement/stathat.h"

namespace slipring {
namespace {

using DefinitionFunction = const SchemeDefinition& (*)();

constexpr DefinitionFunction kNative[] = {
    ring_scheme,   rendezvous_scheme, maglev_scheme, jump_scheme, slots_scheme,
    modulo_scheme, multiprobe_scheme, anchor_scheme, dx_scheme,
};

constexpr DefinitionFunction kProxiesServersClients[] = {
    dalli_scheme,
    haproxy_scheme,
    libmemcached_scheme,
    nginx_scheme,
    npm_consistent_hash_scheme,
    npm_hashring_scheme,
    npm_ketama_scheme,
    npm_memcached_scheme,
    perl_cache_memcached_scheme,
    perl_cache_memcached_fast_scheme,
    php_memcache_scheme,
    php_memcached_scheme,
    pylibmc_scheme,
    pymemcache_scheme,
    python_memcached_scheme,
    spymemcached_scheme,
    squid_carp_scheme,
    trafficserver_scheme,
    twemproxy_scheme,
    varnish_shard_scheme,
};

constexpr DefinitionFunction kMeshesDatabasesLibraries[] = {
    buraksezer_scheme,
    cassandra_scheme,
    cilium_maglev_scheme,
    codis_scheme,
    couchbase_scheme,
    dynomite_scheme,
    envoy_maglev_scheme,
    envoy_ring_hash_scheme,
    ex_hash_ring_scheme,
    go_jump_scheme,
    groupcache_scheme,
    grpc_ring_hash_scheme,
    katran_scheme,
    mcrouter_ch3_scheme,
    mcrouter_rendezvous_scheme,
    mcrouter_weighted_ch3_scheme,
    mcrouter_weighted_furc_scheme,
    mcrouter_weighted_rendezvous_scheme,
    redis_cluster_scheme,
    stathat_scheme,
};

std::vector<const SchemeDefinition*> make_table() {
  std::vector<const SchemeDefinition*> table;
  const auto append = [&](std::span<const DefinitionFunction> group) {
    for (const DefinitionFunction definition : group) {
      table.push_back(&definition());
    }
  };
  append(kNative);
  append(kProxiesServersClients);
  append(kMeshesDatabasesLibraries);
  return table;
}

}  // namespace

std::span<const SchemeDefinition* const> all_schemes() {
  static const std::vector<const SchemeDefinition*> table = make_table();
  return table;
}

const SchemeDefinition* find_scheme(std::string_view name) {
  for (const SchemeDefinition* definition : all_schemes()) {
    if (definition->info.name == name) return definition;
  }
  return nullptr;
}

}  // namespace slipring
