#include "slipring/placement/registry.h"

// Native schemes.
#include "slipring/placement/modulo.h"
#include "slipring/placement/ring.h"

// Other systems' proxies, servers and clients (a to z).

// Other systems' meshes, databases and libraries (a to z).

namespace slipring {
namespace {

using DefinitionFunction = const SchemeDefinition& (*)();

constexpr DefinitionFunction kNative[] = {
    ring_scheme,
    modulo_scheme,
};

constexpr DefinitionFunction kProxiesServersClients[] = {
    nullptr,
};

constexpr DefinitionFunction kMeshesDatabasesLibraries[] = {
    nullptr,
};

std::vector<const SchemeDefinition*> make_table() {
  std::vector<const SchemeDefinition*> table;
  const auto append = [&](std::span<const DefinitionFunction> group) {
    for (const DefinitionFunction definition : group) {
      if (definition != nullptr) table.push_back(&definition());
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
