// node list | add | remove | weight: what a change would do, the question, the change, its progress.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ostream>

#include "slipring/base/parse.h"
#include "slipring/cli/api.h"
#include "slipring/cli/commands.h"
#include "slipring/cli/follow.h"
#include "slipring/cli/render.h"
#include "slipring/control/api_types.h"

namespace slipring::cli {
namespace {

using control::ChangeRequest;
using control::ControllerService;
using control::PlanPreview;
using nlohmann::json;

// The options of every command that changes nodes, as they were written.
struct ChangeOptions {
  ApiOptions api;
  ConfirmOptions confirm;
  std::string name;
  std::string address;
  std::string weight = "1";
  std::string zone;
  std::string grace;
  std::string keys_per_second;
  std::string bytes_per_second;
  bool accept_weaker = false;
};

void add_change_options(CLI::App& command, Context& context, ChangeOptions& o) {
  command.add_option("--grace", o.grace, "time in which the change can be rolled back, such as 10m; 0: none");
  command.add_option("--keys-per-second", o.keys_per_second, "limit of the copying; 0: none");
  command.add_option("--bytes-per-second", o.bytes_per_second, "limit of the copying, such as 50mb; 0: none");
  command.add_flag("--accept-weaker", o.accept_weaker, "a target may persist less than the source of its keys");
  add_confirm_options(command, o.confirm);
  add_api_options(command, context, o.api);
}

Result<control::PlanOptions> read_plan_options(const ChangeOptions& o) {
  control::PlanOptions out;
  out.accept_weaker = o.accept_weaker;
  const auto named = [](std::string_view option, const auto& result) { return fail_in(option, result.error()); };
  if (!o.grace.empty()) {
    const auto ms = parse_duration_ms(o.grace);
    if (!ms) return named("--grace", ms);
    out.grace_ms = *ms;
  }
  if (!o.keys_per_second.empty()) {
    const auto keys = parse_u64(o.keys_per_second, 0, UINT64_MAX);
    if (!keys) return named("--keys-per-second", keys);
    out.keys_per_second = *keys;
  }
  if (!o.bytes_per_second.empty()) {
    const auto bytes = parse_bytes(o.bytes_per_second);
    if (!bytes) return named("--bytes-per-second", bytes);
    out.bytes_per_second = *bytes;
  }
  return out;
}

Result<int64_t> read_weight(const std::string& text) {
  const auto weight = parse_milli(text, 0, kWeightMilliMax);
  if (!weight) return fail_in("weight", weight.error());
  return *weight;
}

// ---- the steps of a change
// -------------------------------------------------------------------------------------------

class ChangeRun {
 public:
  ChangeRun(Context& context, ControllerService& service, const ChangeOptions& options)
      : context_(context), service_(service), options_(options) {}
  // A server that was started for a change which did not come about is ended again.
  ~ChangeRun() {
    if (spawned_) static_cast<void>(service_.release_node(options_.name));
  }
  ChangeRun(const ChangeRun&) = delete;
  ChangeRun& operator=(const ChangeRun&) = delete;

  Result<std::string> spawn() {
    SLIPRING_ASSIGN(std::string address, service_.spawn_node(options_.name));
    spawned_ = true;
    return address;
  }

  Result<Exit> run(const control::Change& change) {
    ChangeRequest request{options_.api.pool, change, {}};
    SLIPRING_ASSIGN(request.options, read_plan_options(options_));
    SLIPRING_ASSIGN(const PlanPreview preview, service_.preview(request));
    document_["preview"] = json::parse(encode_json(preview));
    if (!context_.json) context_.console.out << render_preview(preview);
    if (refuses(preview.findings)) return refused();
    if (options_.confirm.dry_run) return finish(Exit::kDone);
    if (!options_.confirm.yes) {
      if (!context_.console.in_is_terminal || context_.json) {
        return fail(Code::kInvalidArgument,
                    "nothing was started: this needs an answer; add --yes, or --dry-run to see the plan only");
      }
      if (!confirm(context_, "Start?")) return finish(Exit::kStopped);
    }
    return start(request, preview.epoch);
  }

 private:
  Result<Exit> start(const ChangeRequest& request, uint64_t epoch) {
    SLIPRING_ASSIGN(const control::Started started, service_.start(request, epoch));
    if (started.plan == 0) {
      if (!context_.json) context_.console.out << render_findings(started.findings);
      document_["preview"]["findings"] = json::parse(encode_json(started))["findings"];
      return refused();
    }
    spawned_ = false;
    document_["plan_id"] = started.plan;
    if (options_.confirm.detach) return detach(started.plan);
    FollowOptions follow;
    follow.quiet = context_.json;
    SLIPRING_ASSIGN(const Followed followed, follow_plan(context_, service_, started.plan, follow));
    document_["plan"] = json::parse(encode_json(followed.plan));
    if (!context_.json && !followed.detached) print_end(followed.plan);
    return finish(followed.exit);
  }

  Result<Exit> detach(uint64_t plan) {
    if (!context_.json) {
      context_.console.out << fmt::format("plan {} has started.\n  slipring plan wait {}  follows it\n", plan, plan);
    }
    return finish(Exit::kDone);
  }

  void print_end(const control::PlanDetail& plan) {
    context_.console.out << "\n"
                         << render_verification(plan.verification, 64) << render_holds(plan)
                         << render_next_steps(plan.summary);
  }

  Result<Exit> refused() {
    context_.console.err
        << "slipring: refused by preflight; nothing was changed\n  next: do what the findings say, then "
           "start the command again\n";
    document_["error"] = {{"code", "failed_precondition"},
                          {"message", "refused by preflight; nothing was changed"},
                          {"exit", static_cast<int>(Exit::kRefused)}};
    return finish(Exit::kRefused);
  }

  Exit finish(Exit exit) {
    if (context_.json) context_.console.out << document_.dump(-1, ' ', false, json::error_handler_t::replace) << "\n";
    return exit;
  }

  Context& context_;
  ControllerService& service_;
  const ChangeOptions& options_;
  json document_ = json::object();
  bool spawned_ = false;
};

// ---- the commands
// ----------------------------------------------------------------------------------------------------

// Runs what `change_of` makes of the options.
void on_change(CLI::App& command, Context& context, const std::shared_ptr<ChangeOptions>& options,
               std::function<Result<control::Change>(const ChangeOptions&, ChangeRun&)> change_of) {
  on_run(command, context, [&context, options, change_of = std::move(change_of)] {
    if (const Status ok = check_node_name(options->name); !ok) return report(context, ok.error());
    return with_api(context, options->api, [&](ControllerService& service) -> Result<Exit> {
      ChangeRun run(context, service, *options);
      SLIPRING_ASSIGN(const control::Change change, change_of(*options, run));
      return run.run(change);
    });
  });
}

Result<control::Change> make_add(const ChangeOptions& o, ChangeRun& run) {
  SLIPRING_ASSIGN(const int64_t weight, read_weight(o.weight));
  std::string address = o.address;
  if (address.empty()) {
    SLIPRING_TRY(read_plan_options(o));
    SLIPRING_ASSIGN(address, run.spawn());
  }
  SLIPRING_ASSIGN(const HostPort parsed, parse_host_port(address));
  return control::Change(control::NodeAdd{o.name, format_host_port(parsed), weight, o.zone});
}

void add_add(CLI::App& group, Context& context) {
  CLI::App* command =
      add_command(group, "add", "Add a node and move its share of the keys to it",
                  "slipring node add n4 10.0.0.4:6379 --weight 1.5 --zone b\n  slipring node add n4 --yes"
                  "\n\nWithout an address, `slipring up` starts one more server on this machine.");
  const auto o = std::make_shared<ChangeOptions>();
  command->add_option("NAME", o->name, "stable name of the node")->required();
  command->add_option("ADDRESS", o->address, "host:port of a store server that holds no keys");
  command->add_option("--weight", o->weight, "share of the keys, 0 to 1000")->capture_default_str();
  command->add_option("--zone", o->zone, "failure domain");
  add_change_options(*command, context, *o);
  on_change(*command, context, o, make_add);
}

void add_remove(CLI::App& group, Context& context) {
  CLI::App* command =
      add_command(group, "remove", "Move a node's keys to the others and take it out", "slipring node remove n2");
  const auto o = std::make_shared<ChangeOptions>();
  command->add_option("NAME", o->name, "the node")->required();
  add_change_options(*command, context, *o);
  on_change(*command, context, o, [](const ChangeOptions& options, ChangeRun&) -> Result<control::Change> {
    return control::Change(control::NodeRemove{options.name});
  });
}

void add_weight(CLI::App& group, Context& context) {
  CLI::App* command = add_command(group, "weight", "Change a node's share of the keys",
                                  "slipring node weight n2 2.5\n"
                                  "  slipring node weight n2 0     (drains it: it owns nothing)");
  const auto o = std::make_shared<ChangeOptions>();
  command->add_option("NAME", o->name, "the node")->required();
  command->add_option("WEIGHT", o->weight, "0 to 1000, at most three places")->required();
  add_change_options(*command, context, *o);
  on_change(*command, context, o, [](const ChangeOptions& options, ChangeRun&) -> Result<control::Change> {
    SLIPRING_ASSIGN(const int64_t weight, read_weight(options.weight));
    return control::Change(control::NodeWeight{options.name, weight});
  });
}

void add_node_list(CLI::App& group, Context& context) {
  CLI::App* command = add_command(group, "list", "List the nodes of a pool", "slipring node list --json");
  const auto api = std::make_shared<ApiOptions>();
  add_api_options(*command, context, *api);
  on_run(*command, context, [&context, api] {
    return with_api(context, *api, [&](ControllerService& service) -> Result<Exit> {
      SLIPRING_ASSIGN(const control::ClusterStatus status, service.status());
      SLIPRING_ASSIGN(const control::PoolStatus* pool, choose_pool(status, api->pool));
      context.console.out << (context.json ? encode_json(*pool) + "\n" : render_nodes(*pool));
      return Exit::kDone;
    });
  });
}

}  // namespace

void add_node(CLI::App& root, Context& context) {
  CLI::App* group = add_group(root, "node", "List nodes, add, remove and weigh them while requests go on");
  add_node_list(*group, context);
  add_add(*group, context);
  add_remove(*group, context);
  add_weight(*group, context);
}

}  // namespace slipring::cli
