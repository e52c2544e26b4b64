#include "slipring/base/result.h"

namespace slipring {

std::string_view code_name(Code code) {
  switch (code) {
    case Code::kCancelled: return "cancelled";
    case Code::kUnknown: return "unknown";
    case Code::kInvalidArgument: return "invalid_argument";
    case Code::kDeadlineExceeded: return "deadline_exceeded";
    case Code::kNotFound: return "not_found";
    case Code::kAlreadyExists: return "already_exists";
    case Code::kPermissionDenied: return "permission_denied";
    case Code::kResourceExhausted: return "resource_exhausted";
    case Code::kFailedPrecondition: return "failed_precondition";
    case Code::kAborted: return "aborted";
    case Code::kOutOfRange: return "out_of_range";
    case Code::kUnimplemented: return "unimplemented";
    case Code::kInternal: return "internal";
    case Code::kUnavailable: return "unavailable";
    case Code::kDataLoss: return "data_loss";
    case Code::kUnauthenticated: return "unauthenticated";
  }
  return "unknown";
}

std::string Error::to_string() const { return std::string(code_name(code)) + ": " + message; }

tl::unexpected<Error> fail_in(std::string_view context, const Error& error) {
  return fail(error.code, std::string(context) + ": " + error.message);
}

}  // namespace slipring
