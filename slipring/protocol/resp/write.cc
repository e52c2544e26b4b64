#include "slipring/protocol/resp/write.h"

#include <charconv>
#include <cmath>

namespace slipring::resp {
namespace {

void append_header(std::string& out, char type, int64_t value) {
  char text[24];
  text[0] = type;
  char* end = std::to_chars(text + 1, text + sizeof text - 2, value).ptr;
  *end++ = '\r';
  *end++ = '\n';
  out.append(text, static_cast<size_t>(end - text));
}

void append_line(std::string& out, char type, std::string_view text) {
  out.push_back(type);
  const size_t start = out.size();
  out.append(text);
  for (size_t i = start; i < out.size(); ++i) {
    if (out[i] == '\r' || out[i] == '\n') out[i] = ' ';
  }
  out.append("\r\n");
}

template <typename List>
void append_strings(std::string& out, const List& args) {
  append_array_header(out, args.size());
  for (const std::string_view arg : args) append_bulk(out, arg);
}

std::string_view double_text(double value, std::span<char> buffer) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  const char* end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), static_cast<size_t>(end - buffer.data())};
}

}  // namespace

void append_command(std::string& out, std::span<const std::string_view> args) {
  append_strings(out, args);
}
void append_command(std::string& out, std::span<const std::string> args) {
  append_strings(out, args);
}
void append_command(std::string& out, std::initializer_list<std::string_view> args) {
  append_strings(out, args);
}

void append_simple(std::string& out, std::string_view text) {
  append_line(out, '+', text);
}
void append_error(std::string& out, std::string_view text) {
  append_line(out, '-', text);
}
void append_int(std::string& out, int64_t value) {
  append_header(out, ':', value);
}

void append_bulk(std::string& out, std::string_view bytes) {
  append_header(out, '$', static_cast<int64_t>(bytes.size()));
  out.append(bytes);
  out.append("\r\n");
}

void append_array_header(std::string& out, size_t count) {
  append_header(out, '*', static_cast<int64_t>(count));
}

void append_map_header(std::string& out, size_t pairs, Version version) {
  const bool resp3 = version == Version::kResp3;
  append_header(out, resp3 ? '%' : '*', static_cast<int64_t>(resp3 ? pairs : 2 * pairs));
}

void append_set_header(std::string& out, size_t count, Version version) {
  append_header(out, version == Version::kResp3 ? '~' : '*', static_cast<int64_t>(count));
}

void append_push_header(std::string& out, size_t count, Version version) {
  append_header(out, version == Version::kResp3 ? '>' : '*', static_cast<int64_t>(count));
}

void append_null(std::string& out, Version version) {
  out.append(version == Version::kResp3 ? "_\r\n" : "$-1\r\n");
}

void append_null_array(std::string& out, Version version) {
  out.append(version == Version::kResp3 ? "_\r\n" : "*-1\r\n");
}

void append_double(std::string& out, double value, Version version) {
  char buffer[32];
  const std::string_view text = double_text(value, buffer);
  version == Version::kResp3 ? append_line(out, ',', text) : append_bulk(out, text);
}

void append_bool(std::string& out, bool value, Version version) {
  if (version == Version::kResp3) {
    out.append(value ? "#t\r\n" : "#f\r\n");
  } else {
    append_int(out, value ? 1 : 0);
  }
}

void append_verbatim(std::string& out, std::string_view format, std::string_view text, Version version) {
  if (version == Version::kResp2) return append_bulk(out, text);
  append_header(out, '=', static_cast<int64_t>(format.size() + 1 + text.size()));
  out.append(format).append(":").append(text).append("\r\n");
}

void append_big_number(std::string& out, std::string_view digits, Version version) {
  version == Version::kResp3 ? append_line(out, '(', digits) : append_bulk(out, digits);
}

}  // namespace slipring::resp
