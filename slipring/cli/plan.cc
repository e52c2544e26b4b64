// plan list | show | wait | pause | resume | rollback | complete | cancel | decide.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <ostream>

#include "slipring/base/parse.h"
#include "slipring/cli/api.h"
#include "slipring/cli/commands.h"
#include "slipring/cli/follow.h"
#include "slipring/cli/render.h"
#include "slipring/cli/text.h"
#include "slipring/control/api_types.h"

namespace slipring::cli {
namespace {

using control::ControllerService;
using control::PlanAction;
using control::PlanState;

struct PlanCommand {
  ApiOptions api;
  std::string id;
  bool detach = false;
  bool force = false;
  bool events = false;
  bool until_final = false;
};

// A command with an optional plan ID; `use` gets the plan's number.
struct PlanUse {
  bool or_last = false;  // without an ID and an open plan: the newest
  std::function<Result<Exit>(Context&, ControllerService&, uint64_t, const PlanCommand&)> run;
};

Result<uint64_t> plan_id(ControllerService& service, const PlanCommand& options, bool or_last) {
  if (options.id.empty()) {
    SLIPRING_ASSIGN(const control::PlanSummary plan, choose_plan(service, options.api.pool, or_last));
    return plan.id;
  }
  const auto id = parse_u64(options.id, 1, UINT64_MAX);
  if (!id) return fail_in("plan", id.error());
  return *id;
}

std::shared_ptr<PlanCommand> on_plan(CLI::App& command, Context& context, PlanUse use) {
  const auto options = std::make_shared<PlanCommand>();
  command.add_option("ID", options->id, "number of the plan; without it the open one");
  add_api_options(command, context, options->api);
  on_run(command, context, [&context, options, use = std::move(use)] {
    return with_api(context, options->api, [&](ControllerService& service) -> Result<Exit> {
      SLIPRING_ASSIGN(const uint64_t id, plan_id(service, *options, use.or_last));
      return use.run(context, service, id, *options);
    });
  });
  return options;
}

// ---- looking
// ---------------------------------------------------------------------------------------------------------

void add_plan_list(CLI::App& group, Context& context) {
  CLI::App* command = add_command(group, "list", "List open and finished plans, newest first", "slipring plan list");
  const auto api = std::make_shared<ApiOptions>();
  add_api_options(*command, context, *api);
  on_run(*command, context, [&context, api] {
    return with_api(context, *api, [&](ControllerService& service) -> Result<Exit> {
      SLIPRING_ASSIGN(const std::vector<control::PlanSummary> plans, service.plans(api->pool, {0, 1000}));
      if (context.json) {
        context.console.out << encode_json(control::PlansAnswer{plans}) << "\n";
      } else {
        context.console.out << (plans.empty() ? "there has been no plan yet\n" : render_plans(plans));
      }
      return Exit::kDone;
    });
  });
}

Result<Exit> show_events(Context& context, ControllerService& service, uint64_t id) {
  control::EventsAnswer all;
  for (bool more = true; more;) {
    const uint64_t after = all.events.empty() ? 0 : all.events.back().sequence;
    SLIPRING_ASSIGN(const std::vector<control::PlanEvent> page, service.plan_events(id, after, 1000));
    all.events.insert(all.events.end(), page.begin(), page.end());
    more = page.size() == 1000;
  }
  if (context.json) {
    context.console.out << encode_json(all) << "\n";
    return Exit::kDone;
  }
  for (const control::PlanEvent& e : all.events) {
    context.console.out << fmt::format("{}  {:<6}  {}\n", human_time(e.at_ms), control::name_of(e.severity), e.text);
  }
  return Exit::kDone;
}

void add_show(CLI::App& group, Context& context) {
  CLI::App* command = add_command(group, "show", "Show a plan: moves, stages, verification, what can be done",
                                  "slipring plan show 7 --json\n  slipring plan show 7 --events");
  const auto options =
      on_plan(*command, context,
              {true, [](Context& c, ControllerService& service, uint64_t id, const PlanCommand& o) -> Result<Exit> {
                 if (o.events) return show_events(c, service, id);
                 SLIPRING_ASSIGN(const control::PlanDetail plan, service.plan(id, {0, control::kPageItemsMax}));
                 c.console.out << (c.json ? encode_json(plan) + "\n" : render_plan(plan));
                 return Exit::kDone;
               }});
  command->add_flag("--events", options->events, "what has happened, in order");
}

// ---- following
// -------------------------------------------------------------------------------------------------------

Result<Exit> follow(Context& context, ControllerService& service, uint64_t id, Until until, PlanState wanted) {
  FollowOptions options;
  options.until = until;
  options.wanted = wanted;
  options.quiet = context.json;
  SLIPRING_ASSIGN(const Followed followed, follow_plan(context, service, id, options));
  if (context.json) {
    context.console.out << encode_json(followed.plan) << "\n";
  } else if (!followed.detached) {
    context.console.out << "\n" << render_plan(followed.plan);
  }
  return followed.exit;
}

void add_wait(CLI::App& group, Context& context) {
  CLI::App* command =
      add_command(group, "wait", "Follow a plan until it rests: in its grace time, ended, or waiting for a person",
                  "slipring plan wait 7\n  slipring plan wait --final\n\nExits with 0 in grace or completed, 5 when "
                  "both sides differ, "
                  "6 when it stopped, was cancelled or rolled back.");
  const auto options =
      on_plan(*command, context, {true, [](Context& c, ControllerService& service, uint64_t id, const PlanCommand& o) {
                                    return follow(c, service, id, o.until_final ? Until::kFinal : Until::kRest,
                                                  o.until_final ? PlanState::kCompleted : PlanState::kGrace);
                                  }});
  command->add_flag("--final", options->until_final, "wait out the grace time and the cleanup too");
}

// ---- acting
// ----------------------------------------------------------------------------------------------------------

// The end that an action leads to; kRunning: none, the command does not follow it.
PlanState end_of(PlanAction action) {
  if (action == PlanAction::kRollback) return PlanState::kRolledBack;
  if (action == PlanAction::kComplete) return PlanState::kCompleted;
  if (action == PlanAction::kCancel) return PlanState::kCancelled;
  return PlanState::kRunning;
}

Result<Exit> act(Context& context, ControllerService& service, uint64_t id, const PlanCommand& o, PlanAction action) {
  SLIPRING_ASSIGN(const control::PlanSummary plan, service.act(id, action, o.force));
  if (o.force && !context.json && !plan.reason.empty()) context.console.out << plan.reason << "\n";
  const PlanState end = end_of(action);
  if (end != PlanState::kRunning && !o.detach) return follow(context, service, id, Until::kFinal, end);
  if (context.json) {
    context.console.out << encode_json(plan) << "\n";
  } else {
    context.console.out << fmt::format("plan {}: {}\n{}", plan.id, name_of(plan.state), render_next_steps(plan));
  }
  return Exit::kDone;
}

void add_action(CLI::App& group, Context& context, PlanAction action, const std::string& what,
                const std::string& more = "") {
  const std::string name(name_of(action));
  CLI::App* command = add_command(group, name, what, "slipring plan " + name + " 7" + more);
  const auto options = on_plan(
      *command, context, {false, [action](Context& c, ControllerService& service, uint64_t id, const PlanCommand& o) {
                            return act(c, service, id, o, action);
                          }});
  if (end_of(action) != PlanState::kRunning) command->add_flag("--detach", options->detach, "do not wait for the end");
  if (action == PlanAction::kRollback) {
    command->add_flag("--force", options->force, "take the source's copy although it is behind: writes are lost");
  }
}

void add_decide(CLI::App& group, Context& context) {
  CLI::App* command =
      add_command(group, "decide", "Decide what becomes of a move whose sides no longer agree",
                  "slipring plan decide 7 3 merge\n\nowner: the owner as it is. other: the other side's "
                  "copy. merge: the owner, and what only the other side holds.");
  struct Options {
    ApiOptions api;
    uint64_t id = 0;
    uint32_t move = 0;
    std::string choice;
  };
  const auto o = std::make_shared<Options>();
  command->add_option("ID", o->id, "number of the plan")->required();
  command->add_option("MOVE", o->move, "number of the move, as `plan show` lists it")->required();
  command->add_option("CHOICE", o->choice, "owner, other or merge")->required();
  add_api_options(*command, context, o->api);
  on_run(*command, context, [&context, o] {
    const auto choice = control::parse_choice(o->choice);
    if (!choice) return report(context, choice.error());
    return with_api(context, o->api, [&](ControllerService& service) -> Result<Exit> {
      SLIPRING_ASSIGN(const control::PlanSummary plan, service.decide(o->id, o->move, *choice));
      context.console.out << (context.json ? encode_json(plan) + "\n"
                                           : fmt::format("plan {}: {}\n{}", plan.id, name_of(plan.state),
                                                         render_next_steps(plan)));
      return Exit::kDone;
    });
  });
}

}  // namespace

void add_plan(CLI::App& root, Context& context) {
  CLI::App* group = add_group(root, "plan", "Look at plans, follow them, pause, take back or complete them");
  add_plan_list(*group, context);
  add_show(*group, context);
  add_wait(*group, context);
  add_action(*group, context, PlanAction::kPause,
             "Stop copying for a while; everything that is owned stays where it is");
  add_action(*group, context, PlanAction::kResume, "Go on with a plan that was paused or has stopped");
  add_action(
      *group, context, PlanAction::kRollback, "Give every key back to its old owner, with all new writes",
      "\n  slipring plan rollback 7 --force     (the target is gone: takes the old copy, says how far it is behind)");
  add_action(*group, context, PlanAction::kComplete, "End the grace time now: clean up the old copies");
  add_action(*group, context, PlanAction::kCancel, "Roll back what was cut over and remove what was copied");
  add_decide(*group, context);
}

}  // namespace slipring::cli
