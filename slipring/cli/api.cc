#include "slipring/cli/api.h"

#include <fmt/format.h>

#include "slipring/control/api_client.h"
#include "slipring/control/http_api.h"

namespace slipring::cli {
namespace {

std::string_view next_step(const Error& error) {
  switch (error.code) {
    case Code::kUnavailable:
      if (!control::is_no_answer(error)) return "nothing was changed; start the command again when the cause is gone";
      return "is it running? start everything with `slipring up`, or name the controller with --api HOST:PORT";
    case Code::kDeadlineExceeded:
      return "`slipring status` and `slipring plan list` show what has happened; ask again after that";
    case Code::kUnauthenticated:
      return "name the file with the API's token: --api-token-file FILE";
    case Code::kAborted:
      return "the topology changed in between; start the command again";
    case Code::kNotFound:
      return "`slipring status` lists pools, nodes and routers, `slipring plan list` the plans";
    default:
      return {};
  }
}

}  // namespace

Result<std::unique_ptr<control::ControllerService>> connect_api(const ApiOptions& options) {
  control::ApiClientOptions client{options.api, ""};
  if (!options.token_file.empty()) {
    SLIPRING_ASSIGN(client.bearer_token, control::read_token_file(options.token_file));
  }
  SLIPRING_ASSIGN(std::unique_ptr<control::ControllerService> service, control::ApiClient::make(client));
  return service;
}

Exit report_api(Context& context, const Error& error) {
  return report(context, error, next_step(error));
}

Exit with_api(Context& context, const ApiOptions& options,
              const std::function<Result<Exit>(control::ControllerService&)>& use) {
  auto service = connect_api(options);
  if (!service) return report_api(context, service.error());
  const auto exit = use(**service);
  return exit ? *exit : report_api(context, exit.error());
}

Result<const control::PoolStatus*> choose_pool(const control::ClusterStatus& status, const std::string& name) {
  std::vector<std::string_view> names;
  for (const control::PoolStatus& pool : status.pools) {
    if (pool.name == name || (name.empty() && status.pools.size() == 1)) return &pool;
    names.push_back(pool.name);
  }
  if (names.empty()) return fail(Code::kNotFound, "there is no pool yet");
  const std::string known = fmt::format("{}", fmt::join(names, ", "));
  if (name.empty()) return fail(Code::kInvalidArgument, "which pool? name it with --pool: " + known);
  return fail(Code::kNotFound, fmt::format("pool {}: there are only {}", name, known));
}

}  // namespace slipring::cli
