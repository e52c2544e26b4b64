// The contract, and what a file adds: it survives its process, several processes share it, and damage is refused.
#include "slipring/coordination/embedded/embedded_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "slipring/coordination/store_contract.h"

namespace slipring {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "slipring-store-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const char* name) const { return (path_ / name).string(); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// A store together with the folder it lives in.
class OwnedStore final : public MetadataStore {
 public:
  explicit OwnedStore(const Clock& clock) : store_(std::move(*EmbeddedStore::open(folder_.file("meta"), clock))) {}
  Result<std::optional<Record>> get(std::string_view key) override { return store_->get(key); }
  Result<std::vector<Record>> list(std::string_view prefix) override { return store_->list(prefix); }
  Result<uint64_t> commit(const Transaction& t) override { return store_->commit(t); }
  Result<Lease> acquire_lease(std::string_view name, std::string_view holder, Millis ttl) override {
    return store_->acquire_lease(name, holder, ttl);
  }
  Result<Lease> renew_lease(std::string_view name, const Lease& held, Millis ttl) override {
    return store_->renew_lease(name, held, ttl);
  }
  Status release_lease(std::string_view name, const Lease& held) override { return store_->release_lease(name, held); }
  Result<std::optional<Lease>> read_lease(std::string_view name) override { return store_->read_lease(name); }

 private:
  Folder folder_;
  std::unique_ptr<EmbeddedStore> store_;
};

}  // namespace

namespace testing {
INSTANTIATE_TEST_SUITE_P(Embedded, StoreContract,
                         ::testing::Values(StoreUnderTest{
                             "embedded", [](const Clock& clock) { return std::make_unique<OwnedStore>(clock); }}),
                         store_name);
}  // namespace testing

namespace {

class Embedded : public ::testing::Test {
 protected:
  std::unique_ptr<EmbeddedStore> open() {
    auto store = EmbeddedStore::open(path_, clock_);
    EXPECT_TRUE(store) << store.error().to_string();
    return store ? std::move(*store) : nullptr;
  }
  std::string bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void put_bytes(std::string_view bytes) const { std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes; }
  static std::string value(EmbeddedStore& store, const std::string& key) {
    auto record = store.get(key);
    return record && *record ? (*record)->value : "(absent)";
  }

  Folder folder_;
  std::string path_ = folder_.file("meta");
  SystemClock clock_;
};

TEST_F(Embedded, WhatWasCommittedOutlivesTheStore) {
  uint64_t revision = 0;
  {
    auto store = open();
    revision = *store->commit({{}, {{"a", "1"}, {"b", "2"}}});
    ASSERT_TRUE(store->acquire_lease("leader", "x", Millis(1)));
  }
  auto store = open();
  EXPECT_EQ(value(*store, "a"), "1");
  EXPECT_EQ((*store->get("b"))->revision, revision);
  EXPECT_GT(*store->commit({{}, {{"c", "3"}}}), revision) << "revisions go on where they were";
}

TEST_F(Embedded, TermsGoOnOverARestart) {
  ManualClock clock(1000);
  EXPECT_EQ((*EmbeddedStore::open(path_, clock))->acquire_lease("leader", "x", Millis(10))->term, 1u);
  clock.advance(Millis(10));
  EXPECT_EQ((*EmbeddedStore::open(path_, clock))->acquire_lease("leader", "x", Millis(10))->term, 2u);
}

TEST_F(Embedded, EveryFileIsItsOwnersOnly) {
  ::umask(0);
  auto store = open();
  ASSERT_TRUE(store->commit({{}, {{"a", "1"}}}));
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder_.path())) {
    struct stat info = {};
    ASSERT_EQ(::stat(entry.path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 3) << "database, log, shared memory: nothing is left of making them";
}

TEST_F(Embedded, AMissingFolderIsNamed) {
  auto store = EmbeddedStore::open(folder_.file("no/such/meta"), clock_);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::kUnavailable);
  EXPECT_TRUE(store.error().message.starts_with(folder_.file("no/such/meta") + ": ")) << store.error().message;
  EXPECT_EQ(EmbeddedStore::open(folder_.path().string(), clock_).error().code, Code::kUnavailable)
      << "a folder is no file";
}

TEST_F(Embedded, AForeignFileIsRefusedAndKept) {
  const std::string foreign_database = [&] {
    open();
    std::string copy = bytes();
    copy[68] ^= 1;  // another application's id
    return copy;
  }();
  for (const std::string& content : {std::string(), std::string("hello"), std::string(5000, 'x'), foreign_database}) {
    put_bytes(content);
    auto store = EmbeddedStore::open(path_, clock_);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Code::kDataLoss);
    EXPECT_TRUE(store.error().message.starts_with(path_ + ": ")) << store.error().message;
    EXPECT_EQ(bytes(), content);
  }
}

TEST_F(Embedded, ALaterSchemaIsNamedAndNotTouched) {
  open();
  std::string later = bytes();
  later[63] = 2;
  put_bytes(later);
  auto store = EmbeddedStore::open(path_, clock_);
  EXPECT_EQ(store.error().code, Code::kUnimplemented);
  EXPECT_EQ(store.error().message, path_ + ": schema 2, this program reads schema 1");
  EXPECT_EQ(bytes(), later);
}

TEST_F(Embedded, AChangedByteIsRefusedOrChangesNothing) {
  {
    auto store = open();
    ASSERT_TRUE(store->commit({{}, {{"a", "0123456789"}, {"b", std::string(300, 'b')}}}));
    ASSERT_TRUE(store->acquire_lease("leader", "x", Millis(60'000)));
  }
  const std::string good = bytes();
  int refused = 0;
  // A share of the bytes that SQLite's header and our rows use, and a few of the rest.
  for (size_t i = 0; i < good.size(); i += i < 100 || good[i] != 0 ? 5 : 101) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x55);
    put_bytes(bad);
    auto store = EmbeddedStore::open(path_, clock_);
    if (!store) {
      ++refused;
      EXPECT_TRUE(store.error().message.starts_with(path_ + ": ")) << store.error().message;
      EXPECT_EQ(bytes(), bad) << "byte " << i;
      continue;
    }
    EXPECT_EQ(value(**store, "a"), "0123456789") << "byte " << i;
    EXPECT_EQ(value(**store, "b"), std::string(300, 'b')) << "byte " << i;
    EXPECT_EQ((*(*store)->read_lease("leader"))->holder, "x") << "byte " << i;
    EXPECT_EQ((*store)->list("")->size(), 3u) << "byte " << i;
  }
  EXPECT_GT(refused, 40);
}

TEST_F(Embedded, ATruncatedFileIsRefused) {
  {
    auto store = open();
    ASSERT_TRUE(store->commit({{}, {{"a", std::string(20'000, 'a')}}}));
  }
  const std::string good = bytes();
  for (size_t n = 0; n < good.size(); n += 1024) {
    put_bytes(good.substr(0, n));
    auto store = EmbeddedStore::open(path_, clock_);
    ASSERT_FALSE(store) << n;
    EXPECT_EQ(store.error().code, Code::kDataLoss);
  }
}

TEST_F(Embedded, AValueChangedBehindItsBackIsAnErrorNotAnAnswer) {
  {
    auto store = open();
    ASSERT_TRUE(store->commit({{}, {{"plan/1", "needle-in-the-file"}}}));
  }
  std::string changed = bytes();
  changed.replace(changed.find("needle"), 6, "poodle");
  put_bytes(changed);
  auto store = EmbeddedStore::open(path_, clock_);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().message, path_ + ": record \"plan/1\" is damaged");
}

TEST_F(Embedded, ALogWithoutItsDatabaseIsRefused) {
  std::ofstream(path_ + "-wal") << "log";
  auto store = EmbeddedStore::open(path_, clock_);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::kDataLoss);
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(Embedded, AFileTakenAwayInUseIsNoticed) {
  auto store = open();
  ASSERT_TRUE(store->commit({{}, {{"a", "1"}}}));
  fs::remove(path_);
  EXPECT_EQ(store->commit({{}, {{"a", "2"}}}).error().code, Code::kDataLoss);
  EXPECT_EQ(store->get("a").error().code, Code::kDataLoss);
  EXPECT_EQ(store->list("").error().code, Code::kDataLoss);
}

// --- several processes ---

// Runs `body` in a child process, which ends with its answer as exit code.
template <typename Body>
pid_t in_child(Body body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  return pid;
}

int exit_code_of(pid_t pid) {
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Adds one to "counter" `times` times, by compare-and-set; 0 if all went well.
int count_up(const std::string& path, int times) {
  SystemClock clock;
  auto store = EmbeddedStore::open(path, clock);
  if (!store) return 2;
  while (times > 0) {
    auto record = (*store)->get("counter");
    if (!record) return 3;
    const int before = *record ? std::stoi((*record)->value) : 0;
    const uint64_t revision = *record ? (*record)->revision : 0;
    auto committed = (*store)->commit({{{"counter", revision}}, {{"counter", std::to_string(before + 1)}}});
    if (committed) --times;
    if (!committed && committed.error().code != Code::kAborted) return 4;
  }
  return 0;
}

TEST_F(Embedded, ProcessesThatIncrementByCompareAndSetLoseNothing) {
  constexpr int kProcesses = 4;
  constexpr int kEach = 25;
  std::vector<pid_t> children;
  // They also race to make the file.
  for (int i = 0; i < kProcesses; ++i) children.push_back(in_child([&] { return count_up(path_, kEach); }));
  for (const pid_t child : children) EXPECT_EQ(exit_code_of(child), 0);
  EXPECT_EQ(value(*open(), "counter"), std::to_string(kProcesses * kEach));
}

TEST_F(Embedded, AProcessKilledWhileWritingLeavesTransactionsWhole) {
  ASSERT_TRUE(open()->commit({{}, {{"a", "0"}, {"b", "0"}}}));
  for (int round = 0; round < 5; ++round) {
    int acks[2];
    ASSERT_EQ(::pipe(acks), 0);
    const pid_t child = in_child([&] {
      auto store = EmbeddedStore::open(path_, clock_);
      for (int i = 1;; ++i) {
        // Two records and a value of many pages: a torn transaction would show.
        const std::string n = std::to_string(i);
        if (!(*store)->commit({{}, {{"a", n}, {"big", std::string(50'000, static_cast<char>(i))}, {"b", n}}})) return 1;
        if (::write(acks[1], &i, sizeof i) != ssize_t{sizeof i}) return 1;
      }
    });
    int acknowledged = 0;
    for (int want = 3 + 7 * round; acknowledged < want;) {
      ASSERT_EQ(::read(acks[0], &acknowledged, sizeof acknowledged), ssize_t{sizeof acknowledged});
    }
    ::kill(child, SIGKILL);
    EXPECT_EQ(exit_code_of(child), -SIGKILL);
    ::close(acks[1]);
    for (int more = 0; ::read(acks[0], &more, sizeof more) == ssize_t{sizeof more};) acknowledged = more;
    ::close(acks[0]);

    auto store = open();
    EXPECT_EQ(value(*store, "a"), value(*store, "b"));
    EXPECT_GE(std::stoi(value(*store, "a")), acknowledged) << "an acknowledged commit is there";
    EXPECT_TRUE(store->commit({{}, {{"after", "1"}}})) << "no lock is left behind";
  }
}

TEST_F(Embedded, AStoppedProcessHoldsUpNobodyBetweenItsTransactions) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = in_child([&] {
    auto store = EmbeddedStore::open(path_, clock_);
    if (!(*store)->commit({{}, {{"a", "child"}}})) return 1;
    if (::write(ready[1], "x", 1) != 1) return 1;
    ::pause();
    return 0;
  });
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ::kill(child, SIGSTOP);
  auto store = open();
  EXPECT_TRUE(store->commit({{}, {{"a", "parent"}}}));
  EXPECT_EQ(value(*store, "a"), "parent");
  ::kill(child, SIGKILL);
  exit_code_of(child);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(Embedded, OneOfSeveralProcessesTakesTheLease) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(in_child([&, i] {
      auto store = EmbeddedStore::open(path_, clock_);
      if (!store) return 100;
      return (*store)->acquire_lease("leader", fmt::format("c{}", i), Millis(60'000)) ? 1 : 0;
    }));
  }
  int winners = 0;
  for (const pid_t child : children) winners += exit_code_of(child);
  EXPECT_EQ(winners, 1);
  EXPECT_EQ((*open()->read_lease("leader"))->term, 1u);
}

}  // namespace
}  // namespace slipring
