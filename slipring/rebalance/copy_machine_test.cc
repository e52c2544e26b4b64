// The copy machine in golden scenarios (testdata/copy_*.txt). The interpreter answers the oldest outstanding request;
// the default is that everything worked.
#include "slipring/rebalance/copy_machine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "slipring/rebalance/scenario.h"

namespace slipring::rebalance {
namespace {

ServerIdentity identity_of(const std::string& run) {
  return {run, "master", "repl"};
}

std::string text_of(const KeyList& keys) {
  std::string text;
  for (size_t i = 0; i < keys.size(); ++i) text += fmt::format(" {}", keys[i]);
  return text;
}

struct CopyActionText {
  std::string operator()(const OpenFeed& a) const { return fmt::format("open_feed {}", a.peer); }
  std::string operator()(const Barrier& a) const { return fmt::format("barrier {}", a.peer); }
  std::string operator()(const Scan& a) const { return fmt::format("scan {} from {}", a.peer, a.cursor); }
  std::string operator()(const ReadKeys& a) const {
    return fmt::format("{} {}:{}", a.payload ? "read" : "ask", a.peer, text_of(a.keys));
  }
  std::string operator()(const WriteKeys& a) const {
    return fmt::format("write {}: restore {} remove {}{}", a.peer, a.restore.size(), a.remove.size(),
                       a.if_absent ? " if absent" : "");
  }
  std::string operator()(const DropBatch&) const { return "drop_batch"; }
  std::string operator()(const CompareKeys& a) const {
    return fmt::format("compare {} with {}:{}", a.owner, a.other, text_of(a.keys));
  }
  std::string operator()(const DeleteKeys& a) const { return fmt::format("delete {}:{}", a.peer, text_of(a.keys)); }
  std::string operator()(const FeedsOpen& a) const {
    std::string text = "REPORT feeds_open";
    for (const ServerIdentity& i : a.identities) text += " " + i.run_id;
    return text;
  }
  std::string operator()(const CopiedOnce&) const { return "REPORT copied_once"; }
  std::string operator()(const Ready& a) const {
    std::string text = "REPORT ready";
    for (const MoveTotals& t : a.totals) text += fmt::format(" {} keys", t.keys);
    return text;
  }
  std::string operator()(const NotReady& a) const { return "REPORT not_ready: " + a.reason; }
  std::string operator()(const Sealed& a) const {
    const std::string attempt = a.attempt == 0 ? "" : fmt::format(" for attempt {}", a.attempt);
    return fmt::format("REPORT sealed{}, {} keys in hold", attempt, a.keys_in_hold);
  }
  std::string operator()(const SealBroken& a) const { return "REPORT seal_broken: " + a.reason; }
  std::string operator()(const Flipped&) const { return "REPORT flipped"; }
  std::string operator()(const Swept& a) const { return fmt::format("REPORT swept {} strays {}", a.deleted, a.strays); }
  std::string operator()(const Alarm& a) const { return fmt::format("REPORT alarm {} {}", a.key, a.what); }
  std::string operator()(const CopyStopped& a) const { return "REPORT stopped: " + a.reason; }
  std::string operator()(const OwnerChanged& a) const {
    return fmt::format("REPORT owner_changed {} extras {}: {}", a.peer, a.extras, a.reason);
  }
  std::string operator()(const PeerTrouble& a) const { return fmt::format("REPORT trouble {} {}", a.peer, a.message); }
};

class CopyInterpreter final : public ScenarioInterpreter {
 private:
  Status perform(const std::string& what) override {
    if (what == "start") return start();
    if (!machine_) return fail(Code::kInvalidArgument, "start comes first");
    if (what == "opened") return opened();
    if (what == "not_opened") return feed(FeedFailed{peer(), word(2, "") == "refused", "no"});
    if (what == "lost") return feed(FeedLost{peer(), "cut"});
    if (what == "flushed") return feed(FeedFlushed{peer()});
    if (what == "unclear") return feed(FeedUnclear{peer(), "unknown command"});
    if (what == "unusable") return feed(FeedUnusable{peer(), "SWAPDB"});
    if (what == "changed") return changed();
    if (what == "barriers") return barriers();
    if (what == "scanned") return scanned();
    if (what == "answer") return answer();
    if (what == "failed") return failed();
    if (what == "tick") return tick();
    return command(what);
  }

  Status start() {
    CopySpec spec;
    spec.limits.ready_keys = 2;
    spec.limits.set_keys_max = 100;
    for (size_t i = 1; i < words_.size(); ++i) {
      if (words_[i] == "recorded") spec.recorded = {identity_of("run0"), identity_of("run1")};
      if (words_[i] == "target_owns") spec.target_owns = true;
      if (words_[i] == "sweep_only") spec.sweep_only = true;
      if (words_[i] == "merge") spec.merge_first = true;
    }
    machine_.emplace(std::move(spec));
    note(machine_->start(now_));
    return {};
  }
  Status opened() {
    runs_[peer()] = word(2, fmt::format("run{}", peer()));
    return feed(FeedOpened{peer(), identity_of(runs_[peer()])});
  }
  Status changed() {
    FeedChanges changes;
    changes.peer = peer();
    const ChangeKind kind = word(2, "") == "removed"    ? ChangeKind::kRemove
                            : word(2, "") == "restored" ? ChangeKind::kRestore
                                                        : ChangeKind::kWrite;
    for (size_t i = 3; i < words_.size(); ++i) changes.changes.push_back({0, kind, words_[i]});
    return feed(std::move(changes));
  }
  Status barriers() {
    const std::deque<Barrier> waiting = std::exchange(barriers_, {});
    for (const Barrier& b : waiting) SLIPRING_TRY(feed(BarrierReached{b.id, identity_of(runs_[b.peer])}));
    return {};
  }
  Status scanned() {
    if (scans_.empty()) return fail(Code::kInvalidArgument, "no scan is under way");
    Scanned done{scans_.front().id, 0, {KeyList()}};
    scans_.pop_front();
    for (size_t i = 1; i < words_.size(); ++i) done.keys[0].push(words_[i]);
    return feed(std::move(done));
  }
  // "answer" alone: all is present and equal. Otherwise one word a key: "-" absent, "!" too big, "~" unread, "-+" and
  // the like for the two sides of a comparison, "!=" different.
  Status answer() {
    if (requests_.empty()) return fail(Code::kInvalidArgument, "nothing is asked");
    const CopyAction request = std::move(requests_.front());
    requests_.pop_front();
    if (const auto* a = std::get_if<ReadKeys>(&request)) {
      KeysRead done{a->batch, identity_of(runs_[a->peer]), {}};
      for (size_t i = 0; i < a->keys.size(); ++i) done.entries.push_back(entry(word(1 + i, "+")[0], 1));
      return feed(std::move(done));
    }
    if (const auto* a = std::get_if<WriteKeys>(&request)) {
      return feed(KeysWritten{a->batch, std::vector<WriteEffect>(a->restore.size(), WriteEffect::kRestored),
                              std::vector<WriteEffect>(a->remove.size(), WriteEffect::kRemoved)});
    }
    if (const auto* a = std::get_if<DeleteKeys>(&request)) {
      return feed(KeysDeleted{a->batch, std::vector<WriteEffect>(a->keys.size(), WriteEffect::kRemoved)});
    }
    const auto& a = std::get<CompareKeys>(request);
    KeysCompared done{a.batch, identity_of(runs_[a.owner]), identity_of(runs_[a.other]), {}, {}};
    for (size_t i = 0; i < a.keys.size(); ++i) {
      const std::string sides = word(1 + i, "++");
      done.owner.push_back(entry(sides == "!=" ? '+' : sides[0], 1));
      done.other.push_back(entry(sides == "!=" ? '+' : sides[1], sides == "!=" ? 2 : 1));
    }
    return feed(std::move(done));
  }
  Status failed() {
    if (requests_.empty()) return fail(Code::kInvalidArgument, "nothing is asked");
    const CopyAction request = std::move(requests_.front());
    requests_.pop_front();
    uint64_t batch = 0;
    if (const auto* r = std::get_if<ReadKeys>(&request)) batch = r->batch;
    if (const auto* w = std::get_if<WriteKeys>(&request)) batch = w->batch;
    if (const auto* c = std::get_if<CompareKeys>(&request)) batch = c->batch;
    return feed(BatchFailed{batch, 0, word(1, "") == "refused", "OOM"});
  }
  Status tick() {
    const int64_t ms = std::stoll(word(1, "1"));
    now_.mono += Millis(ms);
    now_.wall_ms += ms;
    return feed(CopyTick{});
  }
  Status command(const std::string& what) {
    constexpr std::pair<const char*, CopyCommand> kCommands[] = {
        {"proceed", CopyCommand::kProceed},  {"pause", CopyCommand::kPause},   {"resume", CopyCommand::kResume},
        {"seal", CopyCommand::kSeal},        {"unseal", CopyCommand::kUnseal}, {"flip", CopyCommand::kFlip},
        {"flip_now", CopyCommand::kFlipNow}, {"sweep", CopyCommand::kSweep}};
    for (const auto& [name, value] : kCommands) {
      if (what != name) continue;
      note(machine_->command(value, now_, std::stoull(word(1, "0"))));
      return {};
    }
    return fail(Code::kInvalidArgument, what + ": no such event");
  }

  static KeyEntry entry(char state, uint64_t digest) {
    KeyEntry e;
    e.state = state == '-'   ? KeyState::kAbsent
              : state == '!' ? KeyState::kTooBig
              : state == '~' ? KeyState::kUnread
                             : KeyState::kPresent;
    e.digest.low = digest;
    e.bytes = 10;
    return e;
  }
  Peer peer() const { return static_cast<Peer>(std::stoul(word(1, "0"))); }
  Status feed(CopyEvent event) {
    note(machine_->on(std::move(event), now_));
    return {};
  }
  void note(const CopyActions& actions) {
    for (const CopyAction& action : actions) {
      lines_.push_back(std::visit(CopyActionText{}, action));
      if (const auto* b = std::get_if<Barrier>(&action)) {
        barriers_.push_back(*b);
      } else if (const auto* s = std::get_if<Scan>(&action)) {
        scans_.push_back(*s);
      } else if (std::holds_alternative<ReadKeys>(action) || std::holds_alternative<WriteKeys>(action) ||
                 std::holds_alternative<CompareKeys>(action) || std::holds_alternative<DeleteKeys>(action)) {
        requests_.push_back(action);
      }
    }
  }

  std::optional<CopyMachine> machine_;
  Now now_{MonoTime(Millis(1'000)), 1'000'000};
  std::map<Peer, std::string> runs_;  // the process that answers
  std::deque<Barrier> barriers_;
  std::deque<Scan> scans_;
  std::deque<CopyAction> requests_;
};

TEST(CopyMachine, FollowsItsGoldenScenarios) {
  const auto ran = run_scenarios(std::string(SLIPRING_SOURCE_DIR) + "/slipring/rebalance/testdata", "copy_",
                                 [] { return std::make_unique<CopyInterpreter>(); });
  ASSERT_TRUE(ran) << ran.error().to_string();
  EXPECT_GE(*ran, 9u);
}

}  // namespace
}  // namespace slipring::rebalance
