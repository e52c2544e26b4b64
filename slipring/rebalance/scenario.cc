#include "slipring/rebalance/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace slipring::rebalance {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

namespace {

Result<std::vector<std::string>> lines_of(const std::string& path) {
  std::ifstream in(path);
  if (!in) return fail(Code::kNotFound, path + ": cannot read");
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool starts(const std::string& line, char c) {
  return !line.empty() && line[0] == c;
}

Status check_actions(const std::string& at, const std::vector<std::string>& got, const std::vector<std::string>& want) {
  for (size_t i = 0; i < std::max(got.size(), want.size()); ++i) {
    const std::string g = i < got.size() ? got[i] : "(nothing)";
    const std::string w = i < want.size() ? want[i] : "(nothing)";
    if (g != w) return fail(Code::kInternal, fmt::format("{}: got \"{}\", expected \"{}\"", at, g, w));
  }
  return {};
}

Status run_file(const std::string& path, ScenarioInterpreter& interpreter, bool update) {
  SLIPRING_ASSIGN(const std::vector<std::string> lines, lines_of(path));
  std::vector<std::string> written;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (starts(lines[i], '<')) continue;  // taken with its event
    written.push_back(lines[i]);
    if (!starts(lines[i], '>')) continue;
    std::vector<std::string> want;
    for (size_t j = i + 1; j < lines.size() && starts(lines[j], '<'); ++j) want.push_back(lines[j].substr(2));
    const std::string at = fmt::format("{}:{}", path, i + 1);
    const auto got = interpreter.run(words_of(lines[i].substr(1)));
    if (!got && !update) return fail_in(at, got.error());
    if (!got) written.push_back("< ERROR " + got.error().message);
    if (!got) continue;
    for (const std::string& action : *got) written.push_back("< " + action);
    if (!update) SLIPRING_TRY(check_actions(at, *got, want));
  }
  if (!update) return {};
  std::ofstream out(path);
  for (const std::string& line : written) out << line << "\n";
  return {};
}

}  // namespace

Result<size_t> run_scenarios(const std::string& directory, const std::string& prefix,
                             const std::function<std::unique_ptr<ScenarioInterpreter>()>& make) {
  const bool update = std::getenv("SLIPRING_GOLDEN_UPDATE") != nullptr;
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(prefix, 0) == 0) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) SLIPRING_TRY(run_file(path, *make(), update));
  return paths.size();
}

Result<std::vector<std::string>> ScenarioInterpreter::run(const std::vector<std::string>& words) {
  lines_.clear();
  words_ = words;
  if (words_.empty()) return fail(Code::kInvalidArgument, "empty event");
  SLIPRING_TRY(perform(words_[0]));
  return lines_;
}

}  // namespace slipring::rebalance
