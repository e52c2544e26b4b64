#include "slipring/rebalance/copy_feed.h"

namespace slipring::rebalance {
namespace {

constexpr Millis kPollFor{100};

}  // namespace

// Collects what one poll brings, cut down to the group's keys.
class CopyExecutor::Feed::Sink : public FeedSink {
 public:
  explicit Sink(Feed& feed) : feed_(feed) { changes_.peer = feed.peer_; }

  void on_change(FeedKind kind, std::string_view key) override {
    const MoveInGroup move = feed_.executor_.options_.filter(key);
    if (move == kNoMoveInGroup || (feed_.peer_ != kSource && move != feed_.peer_ - 1)) return;
    changes_.changes.push_back({move, static_cast<ChangeKind>(kind), {}});
    keys_.push(key);
  }
  void on_flush() override { special(FeedFlushed{feed_.peer_}); }
  void on_unclear(std::string_view what) override { special(FeedUnclear{feed_.peer_, std::string(what)}); }
  void on_unusable(std::string_view what) override { special(FeedUnusable{feed_.peer_, std::string(what)}); }

  void deliver(uint64_t serial) {
    serial_ = serial;
    if (changes_.changes.empty()) return;
    feed_.executor_.post(Input{CopyEvent(std::move(changes_)), 0, std::move(keys_), feed_.peer_, serial});
    changes_ = {};
    changes_.peer = feed_.peer_;
    keys_ = {};
  }
  void start(uint64_t serial) { serial_ = serial; }

 private:
  void special(CopyEvent event) {
    deliver(serial_);
    feed_.post(std::move(event), serial_);
  }

  Feed& feed_;
  FeedChanges changes_;
  KeyList keys_;
  uint64_t serial_ = 0;
};

CopyExecutor::Feed::Feed(CopyExecutor& executor, Peer peer)
    : executor_(executor), peer_(peer), thread_([this] { run(); }) {}

CopyExecutor::Feed::~Feed() {
  end();
  thread_.join();
}

void CopyExecutor::Feed::open() {
  const std::lock_guard lock(mutex_);
  ++wanted_;
  if (current_ != nullptr) current_->shutdown();
  changed_.notify_all();
}

void CopyExecutor::Feed::end() {
  const std::lock_guard lock(mutex_);
  ending_ = true;
  if (current_ != nullptr) current_->shutdown();
  changed_.notify_all();
}

uint64_t CopyExecutor::Feed::wanted() const {
  const std::lock_guard lock(mutex_);
  return wanted_;
}

bool CopyExecutor::Feed::wait_for(uint64_t offset) {
  std::unique_lock lock(mutex_);
  const uint64_t serial = wanted_;
  const auto lost = [&] { return ending_ || wanted_ != serial || current_ == nullptr || serial_ != serial; };
  changed_.wait(lock, [&] { return lost() || offset_ >= offset; });
  return !lost();
}

bool CopyExecutor::Feed::wait_until_wanted(uint64_t done) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ending_ || wanted_ != done; });
  return !ending_;
}

void CopyExecutor::Feed::post(CopyEvent event, uint64_t serial) {
  executor_.post(Input{std::move(event), 0, {}, peer_, serial});
}

void CopyExecutor::Feed::set_current(StoreFeed* feed, uint64_t serial) {
  const std::lock_guard lock(mutex_);
  current_ = feed;
  serial_ = serial;
  offset_ = feed != nullptr ? feed->offset() : 0;
  if (feed != nullptr && (ending_ || wanted_ != serial)) feed->shutdown();
  changed_.notify_all();
}

void CopyExecutor::Feed::run() {
  uint64_t serial = 0;
  while (wait_until_wanted(serial)) {
    serial = wanted();
    auto feed = executor_.adapter_.open_feed(executor_.options_.addresses[peer_]);
    if (!feed) {
      post(FeedFailed{peer_, feed.error().code == Code::kFailedPrecondition, feed.error().message}, serial);
      continue;
    }
    post(FeedOpened{peer_, (*feed)->identity()}, serial);
    set_current(feed->get(), serial);
    read(**feed, serial);
    set_current(nullptr, serial);
  }
}

void CopyExecutor::Feed::read(StoreFeed& feed, uint64_t serial) {
  Sink sink(*this);
  sink.start(serial);
  while (wanted() == serial && !executor_.ending_) {
    const Status polled = feed.poll(sink, kPollFor);
    sink.deliver(serial);
    {
      const std::lock_guard lock(mutex_);
      offset_ = feed.offset();
    }
    changed_.notify_all();
    if (polled) continue;
    post(FeedLost{peer_, polled.error().message}, serial);
    return;
  }
}

}  // namespace slipring::rebalance
