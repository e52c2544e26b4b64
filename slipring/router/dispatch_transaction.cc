// MULTI, EXEC, DISCARD: the part of the dispatcher that queues.
#include <fmt/format.h>

#include "slipring/router/dispatch.h"
#include "slipring/router/worker.h"

namespace slipring::router {
namespace {

using resp::CommandId;

constexpr std::string_view kMultiWire = "*1\r\n$5\r\nMULTI\r\n";
constexpr std::string_view kExecWire = "*1\r\n$4\r\nEXEC\r\n";

// Answers that are the same on every server, so they may run there among the others.
bool may_run_on_a_server(CommandId id) {
  return id == CommandId::kPing || id == CommandId::kEcho || id == CommandId::kTime || id == CommandId::kUnwatch;
}

}  // namespace

bool Dispatcher::queue(Client& client, const resp::CommandInfo& info, Handling handling, const resp::Args& args) {
  if (info.id == CommandId::kQuit || info.id == CommandId::kReset) {
    client.transaction.reset();
    return answer(client, info, args);
  }
  if (info.id == CommandId::kWatch) {
    // Redis answers this error and leaves the transaction as it is.
    text_.clear();
    resp::append_error(text_, "ERR WATCH inside MULTI is not allowed");
    return client.answer(text_), true;
  }
  if (info.has(resp::kCommandNoMulti)) {
    return refuse(client, ErrorKind::kUnsupported, "ERR Command not allowed inside a transaction");
  }
  const bool waits = info.has(resp::kCommandBlocking) && info.spec_count > 0;  // never waits inside a transaction
  const bool answered = handling == Handling::kAnswered && may_run_on_a_server(info.id);
  if (handling == Handling::kLater ? !waits : handling == Handling::kAnswered && !answered) {
    return refuse_later(client, info);
  }
  std::string_view why;
  if (is_out_of_reach(info, args, true, why)) return refuse(client, ErrorKind::kUnsupported, why);
  Transaction& transaction = *client.transaction;
  if (transaction.bytes() + args.wire().size() > worker_.options().limits.transaction_bytes_max) {
    return refuse(client, ErrorKind::kUnsupported,
                  "ERR slipring: the transaction is larger than transaction_bytes_max");
  }
  find_keys(info, args);
  transaction.queue(args, keys_);
  client.answer("+QUEUED\r\n");
  return true;
}

bool Dispatcher::transaction(Client& client, const resp::CommandInfo& info) {
  if (info.id == CommandId::kMulti) return multi(client);
  return info.id == CommandId::kExec ? exec(client) : discard(client);
}

bool Dispatcher::multi(Client& client) {
  if (client.transaction) {
    text_.clear();
    resp::append_error(text_, "ERR MULTI calls can not be nested");
    return client.answer(text_), true;
  }
  client.transaction = std::make_unique<Transaction>();
  return client.answer("+OK\r\n"), true;
}

bool Dispatcher::discard(Client& client) {
  if (!client.transaction) return refuse(client, ErrorKind::kUnknown, "ERR DISCARD without MULTI");
  client.transaction.reset();
  return client.answer("+OK\r\n"), true;
}

bool Dispatcher::abort(Client& client, ErrorKind kind, std::string_view text) {
  client.transaction.reset();
  return refuse(client, kind, text);
}

bool Dispatcher::exec(Client& client) {
  if (!client.transaction) return refuse(client, ErrorKind::kUnknown, "ERR EXEC without MULTI");
  const Transaction& transaction = *client.transaction;
  if (transaction.refused()) {
    return abort(client, ErrorKind::kUnknown, "EXECABORT Transaction discarded because of previous errors.");
  }
  if (transaction.commands() == 0) {
    client.transaction.reset();
    return client.answer("*0\r\n"), true;
  }
  keys_.clear();
  for (size_t i = 0; i < transaction.key_count(); ++i) keys_.push_back(transaction.key(i));
  if (keys_.empty()) {
    const InstanceIndex instance = some_instance(client);
    return instance == kNoInstance ? (client.transaction.reset(), true) : send_transaction(client, instance);
  }
  const Placement placement = worker_.placer().place(keys_);
  switch (placement.place) {
    case Place::kOne:
      return send_transaction(client, placement.instance);
    case Place::kHeld:
      if (!worker_.trying_again()) return hold_or_try_again(client);
      client.transaction.reset();
      return hold_or_try_again(client);
    case Place::kSeveral:
      return abort(client, ErrorKind::kCrossSlot,
                   "EXECABORT slipring: the keys of this transaction lie on different nodes");
    case Place::kNowhere:
      return abort(client, ErrorKind::kNodeDown, "EXECABORT slipring: no node owns these keys");
  }
  return true;
}

// One contiguous block, so nothing of other clients runs between. The servers answer MULTI and each QUEUED to nobody;
// the client gets what EXEC answers.
bool Dispatcher::send_transaction(Client& client, InstanceIndex instance) {
  const std::unique_ptr<Transaction> transaction = std::move(client.transaction);
  Backend* backend = open_backend(client, instance);
  if (backend == nullptr) return true;
  const Pending nobody{nullptr, 0, worker_.now_us(), kNoMerge, 0, CommandClass::kTransaction};
  backend->begin(nobody).append(kMultiWire);
  for (uint32_t i = 1; i < transaction->commands(); ++i) backend->begin(nobody);
  backend->begin(nobody).append(transaction->wire());
  send(client, *backend, CommandClass::kTransaction, kExecWire);
  return true;
}

}  // namespace slipring::router
