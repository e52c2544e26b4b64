#include "slipring/coordination/metadata_store.h"

namespace slipring {

std::string lease_record_key(std::string_view name) { return "lease/" + std::string(name); }

}  // namespace slipring
