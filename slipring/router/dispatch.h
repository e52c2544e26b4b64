// From one parsed command to what is done with it: answered here, sent to the node of its keys, split, queued in a
// transaction, or refused with a Redis-style error. Errors leave the connection as it was.
// Thread-safety: one loop thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slipring/net/buffer.h"
#include "slipring/protocol/resp/command.h"
#include "slipring/router/handling.h"
#include "slipring/router/local_commands.h"
#include "slipring/router/placer.h"
#include "slipring/router/stats.h"

namespace slipring::router {

class Backend;
class Client;
class Worker;

class Dispatcher {
 public:
  explicit Dispatcher(Worker& worker) : worker_(worker) {}

  // False: the command cannot be taken now (the client is paused) and comes again later, whole and unchanged.
  bool dispatch(Client& client, const resp::Args& args);

 private:
  bool run(Client& client, const resp::CommandInfo& info, Handling handling, const resp::Args& args);
  bool refuse(Client& client, ErrorKind kind, std::string_view text);
  bool refuse_check(Client& client, resp::CommandCheck check, const resp::CommandInfo* info, const resp::Args& args);
  bool refuse_later(Client& client, const resp::CommandInfo& info);

  bool forward(Client& client, const resp::CommandInfo& info, const resp::Args& args);
  bool forward_placed(Client& client, const Placement& placement, CommandClass command_class, std::string_view wire);
  bool forward_anywhere(Client& client, std::string_view wire);
  bool find_keys(const resp::CommandInfo& info, const resp::Args& args);
  bool hold_or_try_again(Client& client);
  Backend* open_backend(Client& client, InstanceIndex instance);
  InstanceIndex some_instance(Client& client);
  void send(Client& client, Backend& backend, CommandClass command_class, std::string_view wire);

  bool split(Client& client, const resp::CommandInfo& info, Handling handling, const resp::Args& args);
  bool send_parts(Client& client, Handling handling, const resp::Args& args, size_t step);
  void number_parts(size_t instances);

  bool queue(Client& client, const resp::CommandInfo& info, Handling handling, const resp::Args& args);
  bool transaction(Client& client, const resp::CommandInfo& info);
  bool multi(Client& client);
  bool discard(Client& client);
  bool exec(Client& client);
  bool abort(Client& client, ErrorKind kind, std::string_view reply);
  bool send_transaction(Client& client, InstanceIndex instance);

  bool answer(Client& client, const resp::CommandInfo& info, const resp::Args& args);
  LocalFacts facts() const;

  Worker& worker_;
  // Room that is used again for every command.
  std::vector<resp::KeyRef> refs_;
  std::vector<std::string_view> keys_;
  std::vector<InstanceIndex> instances_;  // of each key
  std::vector<uint16_t> part_of_key_;
  std::vector<uint16_t> part_of_instance_;  // kNoPart but for the instances of the command at hand
  std::vector<InstanceIndex> parts_;        // instance of each part
  std::vector<uint32_t> part_sizes_;        // keys of each part
  std::vector<net::Buffer*> outs_;          // where each part's request is written
  std::string text_;
};

}  // namespace slipring::router
