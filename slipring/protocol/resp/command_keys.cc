// Where the keys of a command are: by its key specs, and by a rule of its own where specs cannot say it.
#include <algorithm>

#include "slipring/protocol/resp/command.h"
#include "slipring/protocol/resp/decimal.h"

namespace slipring::resp {
namespace {

using Keys = std::vector<KeyRef>;

void add(Keys& out, size_t index, uint32_t flags) {
  out.push_back({static_cast<uint32_t>(index), static_cast<uint16_t>(flags)});
}

bool is_word(const Args& args, size_t i, std::string_view lower) {
  return equals_lower(args[i], lower);
}

// The argument behind the keyword, or 0.
size_t find_keyword(const KeySpec& spec, const Args& args) {
  for (size_t i = static_cast<size_t>(spec.begin); i < args.size(); ++i) {
    if (equals_lower(args[i], spec.keyword)) return i + 1;
  }
  return 0;
}

// Places `first`, first + step, ... up to `last` (included). False if they are not all arguments.
bool add_range(Keys& out, const Args& args, int64_t first, int64_t last, int64_t step, uint16_t flags) {
  const auto size = static_cast<int64_t>(args.size());
  if (first >= size || last >= size || last < first) return false;
  for (int64_t i = first; i <= last; i += step) add(out, static_cast<size_t>(i), flags);
  return true;
}

bool add_counted(const CommandInfo& info, const Args& args, const KeySpec& spec, int64_t first, Keys& out) {
  const auto size = static_cast<int64_t>(args.size());
  int64_t count = 0;
  if (first + spec.last >= size || !parse_decimal(args[static_cast<size_t>(first + spec.last)], count)) return false;
  if (count < 0 || count > size) return false;
  if (count == 0) return info.has(kCommandNoMandatoryKeys);  // scripts and functions
  return add_range(out, args, first + spec.limit, first + spec.limit + (count - 1) * spec.step, spec.step, spec.flags);
}

bool add_by_spec(const CommandInfo& info, const Args& args, const KeySpec& spec, Keys& out) {
  const auto size = static_cast<int64_t>(args.size());
  const auto first =
      spec.keyword.empty() ? static_cast<int64_t>(spec.begin) : static_cast<int64_t>(find_keyword(spec, args));
  if (first == 0) return false;
  if (spec.find == KeyFind::kCount) return add_counted(info, args, spec, first, out);
  if (spec.last >= 0) return add_range(out, args, first, first + spec.last, spec.step, spec.flags);
  const int64_t last = spec.limit > 0 ? first + (size - first) / spec.limit + spec.last : size + spec.last;
  return add_range(out, args, first, last, spec.step, spec.flags);
}

bool add_by_specs(const CommandInfo& info, const Args& args, bool channels, Keys& out) {
  for (const KeySpec& spec : info.key_specs()) {
    if (((spec.flags & kKeyNotKey) != 0) == channels && !add_by_spec(info, args, spec, out)) return false;
  }
  return true;
}

// SET reads the old value with GET or a condition on it; without, it overwrites unseen.
void add_set(const Args& args, Keys& out) {
  uint16_t flags = kKeyOw | kKeyUpdate;
  for (size_t i = 3; i < args.size(); ++i) {
    for (const std::string_view word : {"get", "ifeq", "ifne", "ifdeq", "ifdne"}) {
      if (is_word(args, i, word)) flags = kKeyRw | kKeyAccess | kKeyUpdate;
    }
  }
  add(out, 1, flags);
}

// BITFIELD only reads if all its operations are GET (and OVERFLOW).
void add_bitfield(const Args& args, Keys& out) {
  size_t i = 2;
  while (i < args.size()) {
    const size_t left = args.size() - i - 1;
    if (is_word(args, i, "get") && left >= 2) {
      i += 3;
    } else if (is_word(args, i, "overflow") && left >= 1) {
      i += 2;
    } else {
      break;
    }
  }
  add(out, 1, i >= args.size() ? kKeyRo | kKeyAccess : kKeyRw | kKeyAccess | kKeyUpdate);
}

// SORT key [BY p] [LIMIT o n] [GET p ...] [STORE d]: the last STORE counts. Patterns of BY and GET name further keys
// that only the values tell.
void add_sort(const Args& args, Keys& out) {
  add(out, 1, kKeyRo | kKeyAccess);
  size_t store = 0;
  for (size_t i = 2; i < args.size(); ++i) {
    if (is_word(args, i, "limit")) {
      i += 2;
    } else if (is_word(args, i, "get") || is_word(args, i, "by")) {
      i += 1;
    } else if (is_word(args, i, "store") && i + 1 < args.size()) {
      store = ++i;
    }
  }
  if (store != 0) add(out, store, kKeyOw | kKeyUpdate);
}

// GEORADIUS ... [STORE d] [STOREDIST d]: one destination, the last one named behind the fixed arguments.
void add_georadius(const CommandInfo& info, const Args& args, Keys& out) {
  add(out, 1, kKeyRo | kKeyAccess);
  size_t store = 0;
  for (size_t i = static_cast<size_t>(info.key_specs()[1].begin); i + 1 < args.size(); ++i) {
    if (is_word(args, i, "store") || is_word(args, i, "storedist")) store = ++i;
  }
  if (store != 0) add(out, store, kKeyOw | kKeyUpdate);
}

// MIGRATE host port key|"" db timeout [COPY] [REPLACE] [AUTH p | AUTH2 u p] [KEYS k ...]; one key or KEYS, not both.
bool add_migrate(const Args& args, Keys& out) {
  constexpr uint16_t kFlags = kKeyRw | kKeyAccess | kKeyDelete;
  for (size_t i = 6; i < args.size(); ++i) {
    if (is_word(args, i, "auth")) {
      i += 1;
    } else if (is_word(args, i, "auth2")) {
      i += 2;
    } else if (is_word(args, i, "keys")) {
      for (size_t k = i + 1; k < args.size(); ++k) add(out, k, kFlags);
      return args[3].empty();
    }
  }
  add(out, 3, kFlags);
  return true;
}

bool add_by_rule(const CommandInfo& info, const Args& args, Keys& out) {
  switch (info.rule) {
    case KeyRule::kSpecs:
      return add_by_specs(info, args, false, out);
    case KeyRule::kFirstOnly:
      add(out, 1, kKeyRo | kKeyAccess);
      return true;
    case KeyRule::kSet:
      add_set(args, out);
      return true;
    case KeyRule::kBitfield:
      add_bitfield(args, out);
      return true;
    case KeyRule::kSort:
      add_sort(args, out);
      return true;
    case KeyRule::kMigrate:
      return add_migrate(args, out);
    case KeyRule::kGeoradius:
      add_georadius(info, args, out);
      return true;
  }
  return false;
}

}  // namespace

bool extract_keys(const CommandInfo& info, const Args& args, std::vector<KeyRef>& out) {
  out.clear();
  if (!info.arity_fits(args.size()) || !add_by_rule(info, args, out)) {
    out.clear();
    return false;
  }
  if (info.id == CommandId::kXreadgroup) {
    for (KeyRef& key : out) key.flags = kKeyRw | kKeyAccess | kKeyUpdate;
  }
  return true;
}

bool extract_channels(const CommandInfo& info, const Args& args, std::vector<KeyRef>& out) {
  out.clear();
  if (info.arity_fits(args.size()) && add_by_specs(info, args, true, out)) return true;
  out.clear();
  return false;
}

}  // namespace slipring::resp
