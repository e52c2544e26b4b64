// Errors say their code and context, clocks move as told, chance repeats from its seed, log lines stay one line.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <set>

#include "slipring/base/check.h"
#include "slipring/base/clock.h"
#include "slipring/base/log.h"
#include "slipring/base/random.h"
#include "slipring/base/result.h"
#include "slipring/base/secret.h"

namespace slipring {
namespace {

// --- result ---

TEST(Result, EveryCodeHasItsOwnName) {
  std::set<std::string_view> names;
  for (int code = 1; code <= 16; ++code) names.insert(code_name(static_cast<Code>(code)));
  EXPECT_EQ(names.size(), 16u);
  EXPECT_EQ(code_name(Code::kInvalidArgument), "invalid_argument");
  EXPECT_EQ(code_name(Code::kDeadlineExceeded), "deadline_exceeded");
  EXPECT_EQ(code_name(static_cast<Code>(99)), "unknown");
}

TEST(Result, ErrorsReadAsCodeAndMessage) {
  const Error error{Code::kNotFound, "node n7: no such node"};
  EXPECT_EQ(error.to_string(), "not_found: node n7: no such node");
}

TEST(Result, ContextStandsInFront) {
  const Status status = fail_in("pool p", Error{Code::kAborted, "lost"});
  EXPECT_EQ(status.error(), (Error{Code::kAborted, "pool p: lost"}));
}

Result<int> half(int n) {
  if (n % 2 != 0) return fail(Code::kInvalidArgument, "odd");
  return n / 2;
}
Result<int> quarter(int n) {
  SLIPRING_ASSIGN(const int once, half(n));
  SLIPRING_ASSIGN(const int twice, half(once));
  return twice;
}
Status check_even(int n) {
  SLIPRING_TRY(half(n));
  return {};
}

TEST(Result, TheMacrosPassValuesOnAndReturnErrors) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().message, "odd");
  EXPECT_TRUE(check_even(2));
  EXPECT_EQ(check_even(3).error().code, Code::kInvalidArgument);
}

Result<std::unique_ptr<int>> boxed(int n) {
  return std::make_unique<int>(n);
}
Result<int> unboxed(int n) {
  SLIPRING_ASSIGN(const std::unique_ptr<int> box, boxed(n));
  return *box;
}

TEST(Result, ValuesThatOnlyMoveAreMoved) {
  EXPECT_EQ(*unboxed(5), 5);
}

TEST(CheckDeathTest, AFailedCheckEndsTheProcessWithPlaceAndReason) {
  const int n = 3;
  EXPECT_DEATH(SLIPRING_CHECK(n < 3, "index from our own table"),
               "base_test.cc:[0-9]+: check failed: n < 3 \\(index from our own table\\)");
  SLIPRING_CHECK(n == 3, "holds");
}

// --- clock ---

TEST(ManualClock, MovesOnlyWhenTold) {
  ManualClock clock(1'000);
  const MonoTime start = clock.now();
  EXPECT_EQ(clock.now(), start);
  clock.advance(Millis(250));
  EXPECT_EQ(clock.now() - start, Millis(250));
  EXPECT_EQ(clock.wall_ms(), 1'250);
}

TEST(ManualClock, TheWallMayJumpAloneAndBackwards) {
  ManualClock clock(1'000);
  const MonoTime start = clock.now();
  clock.jump_wall(Millis(-600));
  EXPECT_EQ(clock.wall_ms(), 400);
  EXPECT_EQ(clock.now(), start);
}

TEST(SystemClock, NeverRunsBackwards) {
  const SystemClock clock;
  MonoTime last = clock.now();
  for (int i = 0; i < 1000; ++i) {
    const MonoTime now = clock.now();
    ASSERT_GE(now, last);
    last = now;
  }
  EXPECT_GT(clock.wall_ms(), 1'600'000'000'000) << "after 2020";
}

// --- random ---

TEST(Random, TheSeedDecidesEverything) {
  Random a(42);
  Random b(42);
  Random c(43);
  for (int i = 0; i < 100; ++i) {
    const uint64_t value = a.next();
    EXPECT_EQ(value, b.next());
    EXPECT_NE(value, c.next());
  }
}

TEST(Random, GivesSplitMixsPublishedNumbers) {
  // First outputs of SplitMix64 for seed 1234567, as its authors give them.
  Random random(1234567);
  for (const uint64_t expected : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u}) {
    EXPECT_EQ(random.next(), expected);
  }
}

TEST(Random, BelowStaysBelowAndReachesAll) {
  Random random(1);
  EXPECT_EQ(random.below(0), 0u);
  EXPECT_EQ(random.below(1), 0u);
  std::array<int, 10> seen{};
  for (int i = 0; i < 10'000; ++i) ++seen.at(random.below(10));
  for (const int n : seen) EXPECT_NEAR(n, 1000, 150);
}

TEST(Random, UnitAndChanceAreShares) {
  Random random(2);
  double sum = 0;
  int hits = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double u = random.unit();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
    hits += random.chance(0.25) ? 1 : 0;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
  EXPECT_NEAR(hits, 2500, 200);
  EXPECT_FALSE(random.chance(0));
  EXPECT_TRUE(random.chance(1));
}

// --- secret ---

TEST(Secret, Is128BitsInHexAndNeverTheSame) {
  std::set<std::string> secrets;
  for (int i = 0; i < 100; ++i) {
    const std::string secret = random_secret();
    EXPECT_EQ(secret.size(), 32u);
    EXPECT_EQ(secret.find_first_not_of("0123456789abcdef"), std::string::npos) << secret;
    secrets.insert(secret);
  }
  EXPECT_EQ(secrets.size(), 100u);
}

// --- log ---

// What is written to standard error while it lives.
class StderrCapture {
 public:
  StderrCapture() : saved_(::dup(STDERR_FILENO)) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[1]);
    read_end_ = ends[0];
  }
  ~StderrCapture() { restore(); }
  std::string take() {
    restore();
    std::string text;
    char chunk[4096];
    for (ssize_t n = 0; (n = ::read(read_end_, chunk, sizeof chunk)) > 0;) text.append(chunk, static_cast<size_t>(n));
    ::close(read_end_);
    return text;
  }

 private:
  void restore() {
    if (saved_ < 0) return;
    ::dup2(saved_, STDERR_FILENO);
    ::close(saved_);
    saved_ = -1;
  }
  int saved_;
  int read_end_ = -1;
};

TEST(Log, ALineHasTimeLevelModuleAndText) {
  set_log_level(LogLevel::kInfo);
  StderrCapture capture;
  log(LogLevel::kWarn, "router", "node {}: refused", "n1");
  const std::string line = capture.take();
  ASSERT_EQ(line.size(), std::string("2026-12-01T08:00:00.123Z warn router: node n1: refused\n").size()) << line;
  EXPECT_EQ(line[10], 'T');
  EXPECT_EQ(line.substr(23), "Z warn router: node n1: refused\n");
}

TEST(Log, ATextCannotForgeALine) {
  set_log_level(LogLevel::kInfo);
  StderrCapture capture;
  log(LogLevel::kError, "api", "name {}", "x\n2026-01-01T00:00:00.000Z info forged\r");
  const std::string text = capture.take();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_EQ(text.back(), '\n');
  EXPECT_EQ(text.find('\r'), std::string::npos);
}

TEST(Log, LinesBelowTheLevelAreNotWritten) {
  set_log_level(LogLevel::kWarn);
  StderrCapture capture;
  log(LogLevel::kDebug, "m", "debug");
  log(LogLevel::kInfo, "m", "info");
  log(LogLevel::kError, "m", "error");
  set_log_level(LogLevel::kOff);
  log(LogLevel::kError, "m", "nothing");
  set_log_level(LogLevel::kInfo);
  const std::string text = capture.take();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  EXPECT_NE(text.find(" error m: error\n"), std::string::npos);
}

TEST(Log, LevelsAreParsedByName) {
  EXPECT_EQ(*parse_log_level("debug"), LogLevel::kDebug);
  EXPECT_EQ(*parse_log_level("off"), LogLevel::kOff);
  EXPECT_EQ(parse_log_level("INFO").error().message, "log level \"INFO\": must be debug, info, warn, error or off");
  EXPECT_FALSE(parse_log_level(""));
}

}  // namespace
}  // namespace slipring
