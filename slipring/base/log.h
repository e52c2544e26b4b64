// Structured log lines on standard error: `2026-12-01T08:00:00.123Z info router: connected node=n1`. One line a call,
// written with one write(2), so lines of several threads never mix. Secrets and values of keys are never logged.
// Thread-safety: any thread.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "slipring/base/result.h"

namespace slipring {

enum class LogLevel { kDebug = 0, kInfo = 1, kWarn = 2, kError = 3, kOff = 4 };

// "debug", "info", "warn", "error", "off".
Result<LogLevel> parse_log_level(std::string_view text);
void set_log_level(LogLevel level);
bool log_enabled(LogLevel level);
void log_line(LogLevel level, std::string_view module, std::string_view text);

template <typename... Args>
void log(LogLevel level, std::string_view module, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level)) log_line(level, module, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace slipring
