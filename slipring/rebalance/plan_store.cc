// The plan machine's dealings with the metadata store: one operation at a time; whatever did not clearly happen is read
// back, and only then anything else is done.
#include <fmt/format.h>

#include <utility>

#include "slipring/base/check.h"
#include "slipring/rebalance/plan_state.h"

namespace slipring::rebalance {

using State = PlanMachine::State;

void State::enqueue(Operation operation) {
  operations.push_back(std::move(operation));
}

void State::start_operation(PlanActions& actions) {
  if (operation_id != 0 || operations.empty() || now.mono < operation_at || halted) return;
  Operation& op = operations.front();
  operation_id = ++last_id;
  if (!op.read.empty()) {
    actions.push_back(StoreRead{operation_id, op.read});
  } else if (op.reading_back) {
    StoreRead read{operation_id, {}};
    for (const Transaction::Write& write : op.sent.writes) read.keys.push_back(write.key);
    actions.push_back(std::move(read));
  } else {
    op.sent = op.build();
    actions.push_back(StoreCommit{operation_id, op.sent});
  }
}

void State::finish_operation(const std::vector<Record>& records) {
  Operation op = std::move(operations.front());
  operations.pop_front();
  operation_id = 0;
  for (const Record& record : records) op.revision = std::max(op.revision, record.revision);
  if (op.done) op.done(records);
}

void State::on_records(const StoreRecords& e) {
  if (e.id == 0 || e.id != operation_id) return;
  operation_id = 0;
  Operation& op = operations.front();
  if (op.reading_back) return judge_read_back(e.records);
  finish_operation(e.records);
}

void State::on_read_failed(const StoreFailed& e) {
  if (e.id == 0 || e.id != operation_id) return;
  operation_id = 0;
  operation_at = now.mono + Millis(limits.retry_ms);
}

void State::on_committed(const StoreCommitted& e) {
  if (e.id == 0 || e.id != operation_id) return;
  operation_id = 0;
  Operation& op = operations.front();
  switch (e.outcome) {
    case CommitOutcome::kCommitted: {
      Record written;
      written.revision = e.revision;
      return finish_operation({written});
    }
    case CommitOutcome::kAborted:  // perhaps by an earlier sending of the same
    case CommitOutcome::kUnknown:
      op.reading_back = true;
      operation_at = e.outcome == CommitOutcome::kUnknown ? now.mono + Millis(limits.retry_ms) : now.mono;
      return;
    case CommitOutcome::kUnavailable:
      operation_at = now.mono + Millis(limits.retry_ms);
      return;
  }
}

void State::judge_read_back(const std::vector<Record>& records) {
  Operation& op = operations.front();
  op.reading_back = false;
  SLIPRING_CHECK(records.size() == op.sent.writes.size(), "one record for each key asked for");
  bool happened = true;
  bool touched = false;
  for (size_t i = 0; i < records.size(); ++i) {
    const Transaction::Write& write = op.sent.writes[i];
    const bool same =
        write.value ? records[i].revision != 0 && records[i].value == *write.value : records[i].revision == 0;
    happened = happened && same;
    for (const Transaction::Expect& expect : op.sent.expects) {
      if (expect.key == write.key && records[i].revision != expect.revision) touched = true;
    }
  }
  if (happened) return finish_operation(records);
  operation_at = now.mono + Millis(limits.retry_ms);
  if (op.failed) {
    const std::function<void()> failed = std::move(op.failed);
    operations.pop_front();
    return failed();
  }
  if (!touched) return;  // it did not happen: again
  halted = true;
  note(kNoGroup, "the plan's records were changed by another controller: this one does nothing more");
}

void State::save_group(uint32_t g, std::function<void(GroupRecord&)> change, std::function<void()> then) {
  Operation op;
  const auto next = std::make_shared<GroupRecord>();
  op.build = [this, g, next, change = std::move(change)] {
    *next = rec(g);
    change(*next);
    const std::string key = group_key(next->plan, next->index);
    Transaction t;
    t.expects = {{key, groups[g].record.revision}};
    t.writes = {{key, encode(*next)}};
    return t;
  };
  op.done = [this, g, next, then = std::move(then)](const std::vector<Record>& records) {
    groups[g].record = {*next, records.front().revision};
    if (then) then();
  };
  enqueue(std::move(op));
}

void State::save_plan(std::function<void(PlanRecord&)> change, std::function<void()> then) {
  Operation op;
  const auto next = std::make_shared<PlanRecord>();
  op.build = [this, next, change = std::move(change)] {
    *next = plan.value;
    change(*next);
    const std::string key = plan_key(next->id);
    Transaction t;
    t.expects = {{key, plan.revision}};
    t.writes = {{key, encode(*next)}};
    return t;
  };
  op.done = [this, next, then = std::move(then)](const std::vector<Record>& records) {
    plan = {*next, records.front().revision};
    if (then) then();
  };
  enqueue(std::move(op));
}

}  // namespace slipring::rebalance
