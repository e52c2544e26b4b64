// `slipring schemes`: every placement scheme with its options, properties and cost.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ostream>

#include "slipring/cli/commands.h"
#include "slipring/placement/registry.h"

namespace slipring::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string_view weights_text(Weights weights) {
  switch (weights) {
    case Weights::kNone:
      return "none";
    case Weights::kIgnored:
      return "ignored";
    case Weights::kUsed:
      return "used";
  }
  return "none";
}

std::string parameters_text(std::string_view head, const std::vector<ParameterInfo>& parameters) {
  std::string text;
  for (const ParameterInfo& info : parameters) {
    text += fmt::format("  {} {}: {} ({}{}{})\n", head, info.name, info.doc, describe_allowed(info),
                        info.default_value.empty() ? "" : ", default ", info.default_value);
  }
  return text;
}

std::string text_of(const SchemeInfo& info) {
  return fmt::format(
      "{}  {}\n"
      "  {}\n"
      "  weights: {}; zones: {}; preference lists: {}\n"
      "  cost: {}\n"
      "  on add or remove: {}\n"
      "  source: {}\n"
      "{}{}\n",
      info.name, info.system, info.summary, weights_text(info.weights), info.zones ? "yes" : "no",
      info.preference_lists ? "its own" : "ordinal order", info.cost, info.disruption, info.source,
      parameters_text("option", info.options), parameters_text("attribute", info.attributes));
}

Json json_of(const std::vector<ParameterInfo>& parameters) {
  Json list = Json::array();
  for (const ParameterInfo& info : parameters) {
    list.push_back({{"name", info.name}, {"allowed", describe_allowed(info)}, {"doc", info.doc}});
    if (!info.default_value.empty()) list.back()["default"] = info.default_value;
  }
  return list;
}

Json json_of(const SchemeInfo& info) {
  return {{"name", info.name},
          {"system", info.system},
          {"source", info.source},
          {"summary", info.summary},
          {"weights", weights_text(info.weights)},
          {"zones", info.zones},
          {"preference_lists", info.preference_lists},
          {"disruption", info.disruption},
          {"cost", info.cost},
          {"options", json_of(info.options)},
          {"attributes", json_of(info.attributes)}};
}

// All of them, or those that are named. kInvalidArgument: an unknown name.
Result<std::vector<const SchemeDefinition*>> chosen(const std::vector<std::string>& names) {
  const auto all = all_schemes();
  if (names.empty()) return std::vector<const SchemeDefinition*>(all.begin(), all.end());
  std::vector<const SchemeDefinition*> found;
  for (const std::string& name : names) {
    const SchemeDefinition* definition = find_scheme(name);
    if (definition == nullptr) return fail(Code::kInvalidArgument, fmt::format("scheme \"{}\": unknown", name));
    found.push_back(definition);
  }
  return found;
}

Exit show(Context& context, const std::vector<std::string>& names) {
  const auto definitions = chosen(names);
  if (!definitions) return report(context, definitions.error(), "slipring schemes lists all of them");
  Json list = Json::array();
  std::string text;
  for (const SchemeDefinition* definition : *definitions) {
    context.json ? list.push_back(json_of(definition->info)) : void(text += text_of(definition->info));
  }
  context.console.out << (context.json ? list.dump(2) + "\n" : text);
  return Exit::kDone;
}

}  // namespace

void add_schemes(CLI::App& root, Context& context) {
  CLI::App* command = add_command(root, "schemes", "List the placement schemes: options, properties, cost",
                                  "slipring schemes\n  slipring schemes ring twemproxy --json");
  const auto names = std::make_shared<std::vector<std::string>>();
  command->add_option("SCHEME", *names, "only these");
  add_json_option(*command, context);
  on_run(*command, context, [&context, names] { return show(context, *names); });
}

}  // namespace slipring::cli
