#include "slipring/import/import.h"

#include <fmt/format.h>

#include "slipring/hash/utf.h"
#include "slipring/import/draft.h"

namespace slipring::import {
namespace {

struct Reader {
  Format format;
  Status (*read)(std::string_view text, const Options& options, Draft& draft);
};

constexpr Reader kReaders[] = {
    {{"twemproxy", "nutcracker.yml (YAML)"}, read_twemproxy},
    {{"mcrouter", "mcrouter configuration (JSON, with comments)"}, read_mcrouter},
    {{"haproxy", "haproxy.cfg: a backend or listen section with `balance` by a hash"}, read_haproxy},
    {{"nginx", "nginx.conf: an upstream block with `hash`"}, read_nginx},
    {{"envoy", "Envoy: a cluster with RING_HASH or MAGLEV (JSON, YAML)"}, read_envoy},
    {{"libmemcached", "a libmemcached configuration string: --SERVER=... --DISTRIBUTION=..."}, read_libmemcached},
    {{"redis-cluster", "what CLUSTER NODES or CLUSTER SHARDS answers"}, read_redis_cluster},
    {{"cassandra", "what `nodetool ring` prints"}, read_cassandra},
};

std::vector<Format> make_formats() {
  std::vector<Format> list;
  for (const Reader& reader : kReaders) list.push_back(reader.format);
  return list;
}

}  // namespace

std::span<const Format> formats() {
  static const std::vector<Format> list = make_formats();
  return list;
}

Result<Imported> import_pool(std::string_view format, std::string_view text, std::string_view file,
                             const Options& options) {
  Draft draft(file);
  if (text.size() > kTextBytesMax) return draft.broken({}, fmt::format("is larger than {} bytes", kTextBytesMax));
  if (text.find('\0') != text.npos) return draft.broken({}, "holds a zero byte");
  if (!is_utf8(text)) return draft.broken({}, "is not UTF-8");
  for (const Reader& reader : kReaders) {
    if (reader.format.name != format) continue;
    SLIPRING_TRY(reader.read(text, options, draft));
    return std::move(draft).finish(options);
  }
  std::vector<std::string_view> known;
  for (const Reader& reader : kReaders) known.push_back(reader.format.name);
  return fail(Code::kInvalidArgument,
              fmt::format("format \"{}\": must be one of {}", format.substr(0, 64), fmt::join(known, ", ")));
}

}  // namespace slipring::import
