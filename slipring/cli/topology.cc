// topology export | import: the metadata as a backup.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <istream>
#include <iterator>
#include <ostream>

#include "slipring/base/secret_file.h"
#include "slipring/cli/api.h"
#include "slipring/cli/commands.h"
#include "slipring/control/api_types.h"

namespace slipring::cli {
namespace {

constexpr size_t kBackupBytesMax = 64u << 20;

struct FileOptions {
  ApiOptions api;
  std::string file;
};

// Writes the backup to the file (mode 0600) or, with "-", to standard output.
Result<Exit> do_export(Context& context, control::ControllerService& service, const std::string& file) {
  SLIPRING_ASSIGN(const std::string backup, service.export_topology());
  if (file == "-") {
    context.console.out << backup;
    return Exit::kDone;
  }
  SLIPRING_TRY(write_secret_file(file, backup));
  if (context.json) {
    context.console.out << fmt::format("{{\"bytes\":{}}}\n", backup.size());
  } else {
    context.console.out << fmt::format("{}: {} bytes\n", file, backup.size());
  }
  return Exit::kDone;
}

Result<Exit> do_import(Context& context, control::ControllerService& service, const std::string& file, bool yes) {
  std::string backup;
  if (file == "-") {
    backup.assign(std::istreambuf_iterator<char>(context.console.in), {});
  } else {
    SLIPRING_ASSIGN(backup, read_secret_file(file, kBackupBytesMax));
  }
  if (!yes && (file == "-" || !confirm(context, "Publish the topology of this backup as the next epoch?"))) {
    return fail(Code::kInvalidArgument, "nothing was imported: add --yes");
  }
  if (backup.empty()) return fail(Code::kDataLoss, fmt::format("{}: is empty; name what topology export wrote", file));
  const auto epoch = service.import_topology(backup);
  // What is wrong with the backup is said of its file; everything else is the controller's.
  if (!epoch && epoch.error().code == Code::kDataLoss) return fail_in(file, epoch.error());
  if (!epoch) return fail(epoch.error());
  context.console.out << (context.json ? encode_json(control::EpochAnswer{*epoch}) + "\n"
                                       : fmt::format("published as epoch {}\n", *epoch));
  return Exit::kDone;
}

}  // namespace

void add_topology(CLI::App& root, Context& context) {
  CLI::App* group = add_group(root, "topology", "Back up the metadata and bring it back");
  const auto to = std::make_shared<FileOptions>();
  CLI::App* out =
      add_command(*group, "export", "Write a backup of the metadata", "slipring topology export backup.slipring");
  to->file = "-";
  out->add_option("FILE", to->file, "file to write, mode 0600; - is standard output")->capture_default_str();
  add_api_options(*out, context, to->api);
  on_run(*out, context, [&context, to] {
    return with_api(context, to->api,
                    [&](control::ControllerService& service) { return do_export(context, service, to->file); });
  });

  const auto from = std::make_shared<FileOptions>();
  const auto yes = std::make_shared<bool>(false);
  CLI::App* in = add_command(*group, "import", "Publish the topology of a backup as the next epoch; no key is moved",
                             "slipring topology import backup.slipring");
  in->add_option("FILE", from->file, "file to read; - is standard input")->required();
  in->add_flag("--yes,-y", *yes, "do not ask");
  add_api_options(*in, context, from->api);
  on_run(*in, context, [&context, from, yes] {
    return with_api(context, from->api,
                    [&](control::ControllerService& service) { return do_import(context, service, from->file, *yes); });
  });
}

}  // namespace slipring::cli
