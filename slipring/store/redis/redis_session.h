// One connection of the mover to a Redis server. See store_adapter.h.
#pragma once

#include "slipring/store/redis/client.h"
#include "slipring/store/store_adapter.h"

namespace slipring::redis {

class RedisSession final : public StoreSession {
 public:
  static Result<std::unique_ptr<RedisSession>> connect(const Endpoint& endpoint);

  bool open() const override { return client_.open(); }
  Result<Position> position() override;
  Result<uint64_t> scan(uint64_t cursor, uint32_t count, std::vector<std::string>& keys) override;
  Result<std::vector<StoredKey>> read(std::span<const std::string_view> keys, bool payload,
                                      uint64_t bytes_max) override;
  Result<std::vector<StoredKey>> digest(std::span<const std::string_view> keys, int64_t wall_ms,
                                        uint64_t bytes_max) override;
  Result<std::vector<bool>> restore(std::span<const RestoreItem> items, bool if_absent) override;
  Result<std::vector<bool>> remove(std::span<const std::string_view> keys) override;

  // Ends another connection; after Ok none of its requests runs any more.
  Status kill_client(int64_t client_id);

  // Under which the server knows the connection.
  const std::string& run_id() const { return run_id_; }
  int64_t client_id() const { return client_id_; }
  const Endpoint& endpoint() const { return client_.endpoint(); }

  static constexpr uint64_t kPipelineBytes = 8u << 20;  // aimed at
  static constexpr uint64_t kPipelineKeysMax = 512;

 private:
  static constexpr uint64_t kFirstMeanBytes = kPipelineBytes / 64;
  explicit RedisSession(Client client) : client_(std::move(client)) {}
  Status identify();
  // DUMP and PEXPIRETIME of each key, given to `take(index, dump, expire_ms)`, in pipelines that are fitted to the size
  // of what came before, so that neither side holds much at once. Before each of them `more()` is asked; answers how
  // many keys were read.
  template <typename Take, typename More>
  Result<size_t> dump_all(std::span<const std::string_view> keys, Take take, More more);
  Client client_;
  std::string run_id_;
  int64_t client_id_ = 0;
  uint64_t mean_bytes_ = kFirstMeanBytes;  // of a payload in the last pipeline
};

}  // namespace slipring::redis
