// nginx.conf: the `hash` and `server` directives of one upstream.
#include <fmt/format.h>

#include "slipring/import/nginx_blocks.h"

namespace slipring::import {
namespace {

void find_upstreams(const std::vector<NginxDirective>& block, std::vector<const NginxDirective*>& found, Draft& draft) {
  for (const NginxDirective& directive : block) {
    if (directive.words[0] == "upstream" && directive.is_block) found.push_back(&directive);
    if (directive.words[0] == "include")
      draft.note(directive.at, "include: not followed (nginx -T prints everything in one piece)");
    find_upstreams(directive.children, found, draft);
  }
}

Status read_hash(const NginxDirective& directive, Draft& draft) {
  const std::vector<std::string>& words = directive.words;
  const bool consistent = words.size() == 3 && words[2] == "consistent";
  if (words.size() < 2 || (words.size() > 2 && !consistent))
    return draft.broken(directive.at, "hash: KEY, or KEY and `consistent`, must follow");
  draft.scheme_options()["method"] = consistent ? "consistent" : "hash";
  draft.note(directive.at, fmt::format("hash: the key is the value of {}", words[1]));
  return {};
}

// host:port, and the text that nginx hashes: as it is written.
Result<Node*> add_server(const NginxDirective& directive, Draft& draft) {
  const std::string& written = directive.words[1];
  if (written.starts_with("unix:"))
    return draft.refused(directive.at,
                         fmt::format("server {}: a Unix socket; routers reach servers by host:port", written));
  const size_t colon = written.rfind(':');
  const bool has_port = colon != written.npos && written.find_first_not_of("0123456789", colon + 1) == written.npos &&
                        colon + 1 < written.size();
  if (has_port) return draft.add_node(directive.at, written, written, written);
  draft.note(directive.at, fmt::format("server {}: no port is written: 80", written));
  return draft.add_node(directive.at, written, written + ":80", written);
}

Status read_server(const NginxDirective& directive, Draft& draft) {
  if (directive.words.size() < 2) return draft.broken(directive.at, "server: an address must follow");
  SLIPRING_ASSIGN(Node * node, add_server(directive, draft));
  for (size_t i = 2; i < directive.words.size(); ++i) {
    const std::string_view word = directive.words[i];
    if (word.starts_with("weight=")) {
      SLIPRING_ASSIGN(node->weight_milli, weight_of(draft, directive.at, word.substr(7)));
      if (node->weight_milli == 0 || node->weight_milli % 1000 != 0)
        return draft.broken(directive.at, "weight: must be a whole number from 1 on");
    } else if (word == "down") {
      node->attributes["down"] = "true";
    } else if (word == "backup") {
      return draft.broken(directive.at, "backup: nginx has none beside `hash`");
    } else if (word == "resolve" || word.starts_with("service=")) {
      return draft.refused(directive.at, fmt::format("{}: the addresses of servers are not in the text", word));
    } else {
      draft.note(directive.at, fmt::format("server {}: not carried over: {}", directive.words[1], word));
    }
  }
  return {};
}

// Methods besides `hash`.
bool is_other_method(const std::string& word) {
  return word == "ip_hash" || word == "least_conn" || word == "least_time" || word == "random" || word == "sticky" ||
         word == "fair";
}

Status read_upstream(const NginxDirective& upstream, Draft& draft) {
  bool hash = false;
  for (const NginxDirective& directive : upstream.children) {
    const std::string& word = directive.words[0];
    if (is_other_method(word))
      return draft.refused(directive.at, fmt::format("{}: a key has no server of its own under it", word));
    if (word == "hash") {
      hash = true;
      SLIPRING_TRY(read_hash(directive, draft));
    } else if (word == "server") {
      SLIPRING_TRY(read_server(directive, draft));
    } else {
      draft.note(directive.at, fmt::format("{}: not carried over: no part of placement", word));
    }
  }
  if (!hash) return draft.refused(upstream.at, "no hash: a key has no server of its own under round robin");
  return {};
}

}  // namespace

Status read_nginx(std::string_view text, const Options& options, Draft& draft) {
  SLIPRING_ASSIGN(const std::vector<NginxDirective> root, parse_nginx(text, draft));
  std::vector<const NginxDirective*> upstreams;
  find_upstreams(root, upstreams, draft);
  std::vector<std::string> names;
  for (const NginxDirective* upstream : upstreams) {
    if (upstream->words.size() != 2) return draft.broken(upstream->at, "upstream: one name must follow");
    names.push_back(upstream->words[1]);
  }
  SLIPRING_ASSIGN(const size_t chosen, choose(draft, "upstream", names, options.pool));
  for (size_t i = 0; i < names.size(); ++i) {
    if (i != chosen) draft.note(upstreams[i]->at, fmt::format("upstream {}: not imported", names[i]));
  }
  draft.set_scheme("nginx");
  draft.set_protocol(options.protocol == Protocol::kUnknown ? Protocol::kHttp : options.protocol);
  draft.set_pool_name(names[chosen]);
  draft.servers_at = upstreams[chosen]->at;
  return read_upstream(*upstreams[chosen], draft);
}

}  // namespace slipring::import
