#include "slipring/control/api_types.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace slipring::control {
namespace {

using nlohmann::json;

template <typename T>
Result<T> strict(const std::string& text) {
  return decode_json<T>(text, UnknownFields::kStrict);
}

// Every field different from its default.
ClusterStatus full_status() {
  NodeStatus node{"n1", "10.0.0.1:6379", 3, "a", 1500, 0.25, 1000, 123456, NodeState::kLeaving, "moving away"};
  RouterStatus router{"r1", "127.0.0.1:6400", 42, 7, RouterState::kBehind, 120, 4, 1000, 2, 1};
  PlanSummary plan{9,  "main", "add node n4",          PlanState::kGrace, "why", 1, 2, 3, 4, 5, 6, 7, 8, 9, 1.5, 2.5,
                   10, 11,     {true, "no reason", 12}};
  PoolStatus pool{"main", "store", "ring", "app:", {node}, plan, "names"};
  return {"0123456789abcdef", "0.1.0", 42, "c1", 5, {pool}, {router}, {"a warning"}};
}

TEST(ApiTypes, StatusComesBackAsItWas) {
  const ClusterStatus status = full_status();
  EXPECT_EQ(strict<ClusterStatus>(encode_json(status)).value(), status);
  EXPECT_EQ(strict<ClusterStatus>(encode_json_pretty(status)).value(), status);
}

TEST(ApiTypes, EveryKindOfChangeComesBackAsItWas) {
  const Change changes[] = {NodeAdd{"n4", "10.0.0.4:6379", 500, "b"}, NodeRemove{"n1"}, NodeWeight{"n2", 1}};
  for (const Change& change : changes) {
    const ChangeRequest request{"main", change, {5000, 10, 20, true}};
    EXPECT_EQ(strict<ChangeRequest>(encode_json(request)).value(), request);
  }
}

TEST(ApiTypes, PreviewAndPlanComeBackAsTheyWere) {
  const PlanPreview preview{"main",
                            "add",
                            4,
                            0.3,
                            0.25,
                            {{"n1", "n4", 0.1, 5, 6}},
                            {{"n1", 1, 0.5, 2, 3, 4, 5}},
                            7,
                            8,
                            9,
                            16,
                            4,
                            {{Severity::kRefuse, "role", "node n4", "is a replica", "use the primary"}}};
  EXPECT_EQ(strict<PlanPreview>(encode_json(preview)).value(), preview);
  PlanDetail detail;
  detail.summary = *full_status().pools[0].plan;
  detail.moves = {{1, "n1", "n4", 2, MoveStage::kCutover, true, 3, 4, 5, 6.5, 7.5, 8, 9, 10, 11, 12, "why", "key\xff"}};
  detail.verification = {{"n1", "n4", 2, 3, 4, 5, 6, "aa", "bb", true}};
  detail.moves_total = 77;
  detail.hold_longest_us = 1234;
  detail.strays = 3;
  detail.alarms = {"key \"a\" was changed"};
  EXPECT_EQ(strict<PlanDetail>(encode_json(detail)).value(), detail);
}

TEST(ApiTypes, KeysAreBytes) {
  const LocateRequest request{"", {"user:1", std::string("\x00\xff\"", 3), "\xc3\xbc"}};
  const std::string text = encode_json(request);
  EXPECT_EQ(strict<LocateRequest>(text).value().keys, request.keys);
  const json keys = json::parse(text)["keys"];
  EXPECT_TRUE(keys[0].is_string());
  EXPECT_TRUE(keys[1].is_object());
  EXPECT_TRUE(keys[2].is_string());
}

TEST(ApiTypes, WeightsAreDecimalsWithThreePlaces) {
  const auto weight = [](const std::string& number) {
    return strict<ChangeRequest>(R"({"change":{"type":"set_weight","name":"n1","weight":)" + number + "}}");
  };
  EXPECT_EQ(std::get<NodeWeight>(weight("1.5").value().change).weight_milli, 1500);
  EXPECT_EQ(std::get<NodeWeight>(weight("0.001").value().change).weight_milli, 1);
  EXPECT_EQ(std::get<NodeWeight>(weight("1000").value().change).weight_milli, 1'000'000);
  EXPECT_EQ(std::get<NodeWeight>(weight("0").value().change).weight_milli, 0);
  for (const char* bad :
       {"-1", "-0.001", "1e9", "1000.001", "0.0001", "1e999", "NaN", "\"1\"", "true", "null", "[1]"}) {
    EXPECT_FALSE(weight(bad).has_value()) << bad;
  }
}

TEST(ApiTypes, AMissingFieldIsNamed) {
  EXPECT_EQ(strict<ChangeRequest>("{}").error().message, "change: is missing");
  EXPECT_EQ(strict<ChangeRequest>(R"({"change":{"type":"add_node","name":"n4"}})").error().message,
            "change.address: is missing");
  EXPECT_EQ(strict<DecideRequest>("").error().message, "choice: is missing");
}

TEST(ApiTypes, AnUnknownFieldIsAnErrorWhereStrictAndIgnoredWhereLenient) {
  const std::string text = R"({"force":true,"froce":1})";
  EXPECT_EQ(strict<ActRequest>(text).error().message, "froce: is no known field");
  EXPECT_TRUE(decode_json<ActRequest>(text, UnknownFields::kLenient).value().force);
  EXPECT_EQ(strict<ChangeRequest>(R"({"change":{"type":"remove_node","name":"n1","weight":1}})").error().message,
            "change.weight: is no known field");
}

TEST(ApiTypes, WrongTypesAreNamedWithTheirPath) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"change":7})", "change.type: must be one of add_node, remove_node, set_weight"},
      {R"({"change":{"type":"drop_node"}})", "change.type: must be one of add_node, remove_node, set_weight"},
      {R"({"change":{"type":"remove_node","name":7}})", "change.name: must be a string"},
      {R"({"change":{"type":"remove_node","name":"n"},"options":{"keys_per_second":-1}})",
       "options.keys_per_second: must be an integer of at most 18446744073709551615"},
      {R"({"change":{"type":"remove_node","name":"n"},"options":{"accept_weaker":1}})",
       "options.accept_weaker: must be true or false"},
      {R"({"change":{"type":"remove_node","name":"n"},"options":[]})", "options: must be an object"},
      {"[]", "must be an object"},
      {"{", "the body is not valid JSON"}};
  for (const auto& [text, message] : cases) EXPECT_EQ(strict<ChangeRequest>(text).error().message, message) << text;
}

TEST(ApiTypes, IntegersOutsideTheirTypeAreRefused) {
  EXPECT_FALSE(strict<EpochAnswer>(R"({"epoch":18446744073709551616})").has_value());
  EXPECT_FALSE(strict<EpochAnswer>(R"({"epoch":1.5})").has_value());
  EXPECT_EQ(strict<EpochAnswer>(R"({"epoch":18446744073709551615})").value().epoch, UINT64_MAX);
  EXPECT_FALSE(strict<PlanPreview>(R"({"slices":4294967296})").has_value());
}

TEST(ApiTypes, DeeplyNestedOrBrokenBodiesAreErrorsNotCrashes) {
  EXPECT_FALSE(strict<LocateRequest>(std::string(200'000, '[')).has_value());
  EXPECT_FALSE(
      strict<LocateRequest>(R"({"keys":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}").has_value());
  for (const char* keys : {"7", "{}", "[7]", "[{}]", R"([{"base64":"?"}])", R"([{"base64":"Zg==","x":1}])"}) {
    EXPECT_FALSE(strict<LocateRequest>(std::string(R"({"keys":)") + keys + "}").has_value()) << keys;
  }
}

TEST(ApiTypes, TextForPeopleThatIsNotUtf8StillMakesJson) {
  EXPECT_TRUE(json::accept(encode_json(ErrorBody{"not_found", "node \xff", {}})));
}

TEST(ApiTypes, NamesAreReadBack) {
  for (const PlanAction action :
       {PlanAction::kPause, PlanAction::kResume, PlanAction::kRollback, PlanAction::kComplete, PlanAction::kCancel}) {
    EXPECT_EQ(parse_plan_action(name_of(action)).value(), action);
  }
  EXPECT_EQ(parse_choice("merge").value(), Choice::kMerge);
  EXPECT_EQ(parse_choice("mergee").error().message, "\"mergee\": must be one of owner, other, merge");
  EXPECT_EQ(code_of("not_found"), Code::kNotFound);
  EXPECT_EQ(code_of("?"), Code::kUnknown);
}

TEST(ApiTypes, EveryEnumeratorHasANameOfItsOwn) {
  EXPECT_EQ(name_of(PlanState::kCancelled), "cancelled");
  EXPECT_EQ(name_of(MoveStage::kNeedsDecision), "needs_decision");
  EXPECT_EQ(name_of(RouterState::kFenced), "fenced");
  EXPECT_EQ(name_of(NodeState::kUnknown), "unknown");
  EXPECT_EQ(name_of(Severity::kRefuse), "refuse");
}

}  // namespace
}  // namespace slipring::control
