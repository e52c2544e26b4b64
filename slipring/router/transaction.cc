#include "slipring/router/transaction.h"

namespace slipring::router {

void Transaction::queue(const resp::Args& command, std::vector<std::string_view>& keys) {
  const char* begin = command.wire().data();
  for (const std::string_view key : keys) {
    const auto offset = static_cast<uint32_t>(wire_.size()) + static_cast<uint32_t>(key.data() - begin);
    keys_.push_back({offset, static_cast<uint32_t>(key.size())});
  }
  wire_.append(command.wire());
  ++commands_;
}

}  // namespace slipring::router
