// One byte altered on the target behind the mover's back, at the worst moments: clients never see it, and `plan show`
// names the key. The controller is stopped at a named fault point meanwhile (base/fault_point.h).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/faults.h"

namespace slipring::testing {
namespace {

using control::PlanState;
using ::testing::HasSubstr;

struct Moment {
  const char* name;
  const char* point;       // where the controller stands when it happens
  const char* hold_bound;  // routers that hold let go after it, or stay bound until the controller goes on
  bool removed = false;    // the key is taken away instead
};

std::ostream& operator<<(std::ostream& out, const Moment& m) {
  return out << m.name;
}

class Tripwire : public Faults, public ::testing::WithParamInterface<Moment> {
 protected:
  void SetUp() override {
    ClusterOptions options;
    options.move = fmt::format("hold_bound = \"{}\"\nhold_max = \"60s\"\n", GetParam().hold_bound);
    make(options);
    cluster_->controller_process().kill();
    cluster_->start_controller(1, GetParam().point, true);
  }

  bool stopped() {
    std::ifstream stat(fmt::format("/proc/{}/stat", cluster_->controller_process().pid()));
    const std::string text((std::istreambuf_iterator<char>(stat)), {});
    return text.find(") T ") != std::string::npos;
  }

  // Alters one copy on n4, or takes it away, as its administrator; the key.
  std::string alter() {
    redis::Client target = cluster_->admin(4);
    const std::string key = target.call({"RANDOMKEY"})->text;
    if (GetParam().removed) {
      EXPECT_EQ(target.call({"DEL", key})->integer, 1);
    } else {
      EXPECT_GT(target.call({"SETRANGE", key, "0", "V"})->integer, 0);
    }
    return key;
  }

  std::string alarms(uint64_t plan) {
    std::string all;
    for (const std::string& alarm : cluster_->detail(plan).alarms) all += alarm + "\n";
    return all;
  }
};

TEST_P(Tripwire, AnAlteredByteIsNamedAndNeverServed) {
  const uint64_t plan = cluster_->start(join());
  ASSERT_TRUE(eventually(60, [&] { return stopped(); }));
  const std::string key = alter();
  ASSERT_THAT(key, HasSubstr("fill:"));
  cluster_->controller_process().resume();
  ASSERT_TRUE(cluster_->reaches(plan, PlanState::kGrace));
  expect_whole();
  EXPECT_THAT(alarms(plan), HasSubstr(key));
  EXPECT_EQ(cluster_->admin(4).call({"GET", key})->text, "value " + key.substr(key.find(':') + 1));
  for (const auto& row : cluster_->detail(plan).verification) EXPECT_TRUE(row.equal);
  // What came of it is as good as any other plan.
  ASSERT_TRUE(cluster_->controller().act(plan, control::PlanAction::kComplete, false));
  ASSERT_TRUE(cluster_->reaches(plan, PlanState::kCompleted));
  expect_whole();
  expect_no_copies(*cluster_);
}

INSTANTIATE_TEST_SUITE_P(At, Tripwire,
                         ::testing::Values(Moment{"BeforeItsComparison", "copy.compare.before", "1s"},
                                           Moment{"AfterItsComparison", "copy.ready.after", "1s"},
                                           Moment{"RemovedAfterItsComparison", "copy.ready.after", "1s", true},
                                           Moment{"AfterTheLastRound", "copy.sealed.before", "1s"},
                                           Moment{"AfterTheLastRoundWithRoutersBound", "copy.sealed.before", "50s"}),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace slipring::testing
