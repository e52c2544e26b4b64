// The values of service.h as JSON, for the HTTP API, its client and `--json`: docs/api.md describes every field. One
// table in the .cc lists the fields of each type; reading and writing both follow it, so they cannot drift apart.
//
// Keys of a store are bytes: a key that is valid UTF-8 is a JSON string, any other {"base64": "..."}. Weights are
// decimal numbers with at most three places. Absent optionals are left out. Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slipring/base/result.h"
#include "slipring/control/service.h"

namespace slipring::control {

// ---- bodies of requests and answers that are no type of service.h
// ----------------------------------------------------

struct LocateRequest {
  std::string pool;
  std::vector<std::string> keys;
};
struct LocateAnswer {
  std::vector<Location> locations;
};
struct StartRequest {
  ChangeRequest request;
  uint64_t if_epoch = 0;
};
struct PlansAnswer {
  std::vector<PlanSummary> plans;
};
struct EventsAnswer {
  std::vector<PlanEvent> events;
};
struct ActRequest {
  bool force = false;
};
struct DecideRequest {
  Choice choice = Choice::kOwner;
};
struct SpawnRequest {
  std::string name;
};
struct SpawnAnswer {
  std::string address;
};
struct EpochAnswer {
  uint64_t epoch = 0;
};
struct DoneAnswer {};

struct ErrorBody {
  std::string code;  // code_name()
  std::string message;
  std::vector<Finding> findings;  // of a start that preflight refused
};

// ---- text <-> values
// -------------------------------------------------------------------------------------------------

// One line of JSON. Bytes that are not UTF-8 in a text meant for people are replaced.
template <typename T>
std::string encode_json(const T& value);
// The same over several lines, for people.
template <typename T>
std::string encode_json_pretty(const T& value);

// kStrict for what others send us: an unknown field is an error. kLenient for what a newer controller may answer.
enum class UnknownFields { kStrict, kLenient };
// kInvalidArgument with the path of the field: "change.weight: must be 0 to 1000". An empty text reads as {}.
template <typename T>
Result<T> decode_json(std::string_view text, UnknownFields unknown);

// Stable lower-case names of the enumerators, as JSON and the CLI write them.
std::string_view name_of(Severity value);
std::string_view name_of(NodeState value);
std::string_view name_of(RouterState value);
std::string_view name_of(PlanState value);
std::string_view name_of(MoveStage value);
std::string_view name_of(PlanAction value);
std::string_view name_of(Choice value);
// kInvalidArgument listing the names.
Result<PlanAction> parse_plan_action(std::string_view name);
Result<Choice> parse_choice(std::string_view name);
// kUnknown for a name that is none.
Code code_of(std::string_view name);

}  // namespace slipring::control
