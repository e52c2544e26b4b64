#include <fmt/format.h>

#include "slipring/base/parse.h"
#include "slipring/import/import.h"

namespace slipring::import {
namespace {

bool printable(char c) {
  return c >= 0x20 && c != 0x7f;
}

// A TOML basic string. Bytes above 0x7f are left: they were valid UTF-8 where the text was.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (printable(c) || static_cast<unsigned char>(c) >= 0x80) {
      out.push_back(c);
    } else {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    }
  }
  return out + "\"";
}

std::string comment(std::string_view text) {
  std::string out = "# ";
  for (const char c : text) out.push_back(printable(c) || static_cast<unsigned char>(c) >= 0x80 ? c : ' ');
  return out + "\n";
}

bool bare(std::string_view key) {
  for (const char c : key) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && (c < '0' || c > '9') && c != '_' && c != '-') return false;
  }
  return !key.empty();
}

std::string inline_table(const std::map<std::string, std::string>& values) {
  std::string out;
  for (const auto& [key, value] : values)
    out += fmt::format("{} {} = {}", out.empty() ? "{" : ",", bare(key) ? key : quoted(key), quoted(value));
  return out + " }";
}

void add_node(const Node& node, std::string& out) {
  out += fmt::format("\n[[pool.node]]\nname = {}\naddress = {}\n", quoted(node.name), quoted(node.instance.address));
  if (node.weight_milli != 1000) out += fmt::format("weight = {}\n", format_milli(node.weight_milli));
  if (!node.zone.empty()) out += fmt::format("zone = {}\n", quoted(node.zone));
  if (!node.label.empty()) out += fmt::format("label = {}\n", quoted(node.label));
  if (!node.attributes.empty()) out += fmt::format("attributes = {}\n", inline_table(node.attributes));
}

}  // namespace

std::string to_toml(const Imported& imported, std::string_view format) {
  const Pool& pool = imported.pool;
  std::string out =
      comment(fmt::format("Imported from {}: every key is owned by the server that owned it there.", format));
  for (const Note& note : imported.notes)
    out += comment(note.line == 0 ? note.text : fmt::format("line {}: {}", note.line, note.text));
  out += fmt::format("\n[[pool]]\nname = {}\nkind = \"{}\"\nscheme = {}\n", quoted(pool.name),
                     pool.kind == PoolKind::kStore ? "store" : "cache", quoted(pool.layout.scheme.name));
  if (!pool.layout.scheme.options.empty())
    out += fmt::format("options = {}\n", inline_table(pool.layout.scheme.options));
  if (!pool.key_prefix.empty()) out += fmt::format("key_prefix = {}\n", quoted(pool.key_prefix));
  for (const Node& node : pool.layout.nodes) add_node(node, out);
  return out;
}

}  // namespace slipring::import
