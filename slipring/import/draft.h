// What the readers of all formats fill in: the pool under construction, its notes, and errors with their place.
//
// Invariant: nodes and old names grow together. Thread-safety: one owner.
#pragma once

#include <set>

#include "slipring/import/import.h"

namespace slipring::import {

// A place in the text, both from 1; 0: none.
struct Mark {
  size_t line = 0;
  size_t column = 0;
};

class Draft {
 public:
  explicit Draft(std::string_view file) : file_(file) {}

  // The text is not of its format.
  tl::unexpected<Error> broken(Mark at, std::string_view what) const;
  // It is, but keys would move.
  tl::unexpected<Error> refused(Mark at, std::string_view what) const;
  void note(Mark at, std::string text);

  // A node at the end of the list. `address` is host:port. `label` is what the scheme hashes; empty: nothing of it.
  // The node is named after `old_name` as far as it can be. kInvalidArgument, kFailedPrecondition: no such address.
  Result<Node*> add_node(Mark at, std::string_view old_name, std::string_view address, std::string_view label = "");

  Pool& pool() { return imported_.pool; }
  std::map<std::string, std::string>& scheme_options() { return imported_.pool.layout.scheme.options; }
  void set_scheme(std::string name) { imported_.pool.layout.scheme.name = std::move(name); }
  void set_protocol(Protocol protocol) { imported_.protocol = protocol; }
  void set_pool_name(std::string_view name);

  // The pool, checked as a published one is; `at` is where its servers stand.
  Result<Imported> finish(const Options& options) &&;

  // Where the servers stand, for errors of the pool as a whole.
  Mark servers_at;

 private:
  tl::unexpected<Error> error(Code code, Mark at, std::string_view what) const;
  std::string unused_name(std::string_view wanted);

  std::string_view file_;
  Imported imported_;
  std::set<std::string> names_;
  size_t notes_left_out_ = 0;
};

// [A-Za-z0-9._-]{1,64} that reads like `text`.
std::string as_name(std::string_view text);

// A weight that Slipring can hold exactly: thousandths. kInvalidArgument: no number; kFailedPrecondition: too
// large or too fine.
Result<int64_t> weight_of(const Draft& draft, Mark at, std::string_view text);

// The chosen one of `names`, or the only one. kInvalidArgument: not among them; several and none chosen.
Result<size_t> choose(const Draft& draft, std::string_view what, std::span<const std::string> names,
                      const std::string& chosen);

// The readers, one file each.
Status read_twemproxy(std::string_view text, const Options& options, Draft& draft);
Status read_mcrouter(std::string_view text, const Options& options, Draft& draft);
Status read_haproxy(std::string_view text, const Options& options, Draft& draft);
Status read_nginx(std::string_view text, const Options& options, Draft& draft);
Status read_envoy(std::string_view text, const Options& options, Draft& draft);
Status read_libmemcached(std::string_view text, const Options& options, Draft& draft);
Status read_redis_cluster(std::string_view text, const Options& options, Draft& draft);
Status read_cassandra(std::string_view text, const Options& options, Draft& draft);

}  // namespace slipring::import
