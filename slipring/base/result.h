// Errors as values. Every fallible function of Slipring returns Result<T> (or Status = Result<void>); no exception of
// ours crosses a module. The codes are gRPC's canonical ones, so they map 1:1 to HTTP, exit codes and the C ABI.
//
// Messages are lower case and start with the context: "node n7: connect 10.0.0.7:6379: refused".
// Thread-safety: values.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace slipring {

// Which code to take when two fit:
//  kInvalidArgument    the request is wrong whatever the state; kFailedPrecondition: it would be right in another state.
//  kFailedPrecondition the caller must change something first; kAborted: the caller may simply start again
//                      (a lost compare-and-set); kUnavailable: the same call may work later.
//  kDeadlineExceeded   the outcome is unknown; kUnavailable: it did not happen.
//  kDataLoss           bytes are damaged; kInternal: our own invariant does not hold.
enum class Code {
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

// Lower-case name of the code: "invalid_argument".
std::string_view code_name(Code code);

struct Error {
  Code code = Code::kUnknown;
  std::string message;

  bool operator==(const Error&) const = default;
  // "invalid_argument: weight -1: must be 0 to 1000".
  std::string to_string() const;
};

template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};
using Status = Result<void>;

inline tl::unexpected<Error> fail(Code code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }
// The same error with a context in front: "pool p: " + message.
tl::unexpected<Error> fail_in(std::string_view context, const Error& error);

}  // namespace slipring

#define SLIPRING_CONCAT_INNER(a, b) a##b
#define SLIPRING_CONCAT(a, b) SLIPRING_CONCAT_INNER(a, b)

// Returns the error of `expr` (a Status or Result) from the enclosing function.
#define SLIPRING_TRY(expr)                                            \
  do {                                                                \
    if (auto slipring_try_ = (expr); !slipring_try_) {                \
      return ::slipring::fail(std::move(slipring_try_).error());      \
    }                                                                 \
  } while (false)

// SLIPRING_ASSIGN(auto x, f()): x = the value of f(), or returns its error.
#define SLIPRING_ASSIGN(lhs, expr) SLIPRING_ASSIGN_INNER(SLIPRING_CONCAT(slipring_result_, __LINE__), lhs, expr)
#define SLIPRING_ASSIGN_INNER(tmp, lhs, expr)                         \
  auto tmp = (expr);                                                  \
  if (!tmp) return ::slipring::fail(std::move(tmp).error());          \
  lhs = std::move(*tmp)
