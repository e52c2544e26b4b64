// Writers for requests and replies: append to a string, nothing else. Aggregate headers take the count of elements (of
// pairs for a map); what RESP2 lacks is written in the form Redis itself uses for a RESP2 client.
// Thread-safety: pure functions on the caller's string.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace slipring::resp {

enum class Version : uint8_t { kResp2 = 2, kResp3 = 3 };

// A request: array of bulk strings.
void append_command(std::string& out, std::span<const std::string_view> args);
void append_command(std::string& out, std::span<const std::string> args);
void append_command(std::string& out, std::initializer_list<std::string_view> args);

// "+text": CR and LF in `text` become blanks, as they would end the line.
void append_simple(std::string& out, std::string_view text);
// "-text", the same; `text` starts with its code ("ERR ...").
void append_error(std::string& out, std::string_view text);
void append_int(std::string& out, int64_t value);
void append_bulk(std::string& out, std::string_view bytes);
void append_array_header(std::string& out, size_t count);

// RESP2: array of 2 * pairs; a set or push as array; a null as "$-1", a null array as "*-1"; a double as bulk of its
// shortest text; true and false as 1 and 0; verbatim text and a big number as bulk.
void append_map_header(std::string& out, size_t pairs, Version version);
void append_set_header(std::string& out, size_t count, Version version);
void append_push_header(std::string& out, size_t count, Version version);
void append_null(std::string& out, Version version);
void append_null_array(std::string& out, Version version);
void append_double(std::string& out, double value, Version version);
void append_bool(std::string& out, bool value, Version version);
// `format` is three bytes: "txt", "mkd".
void append_verbatim(std::string& out, std::string_view format, std::string_view text, Version version);
void append_big_number(std::string& out, std::string_view digits, Version version);

}  // namespace slipring::resp
