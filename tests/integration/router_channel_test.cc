// A router under a controller that this test plays: it takes snapshots, holds what an attempt names, acknowledges only
// when nothing is in flight, lets go only when told, and asks for a new generation when it is fenced.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "slipring/router/disk_state.h"
#include "slipring/store/redis/client.h"
#include "slipring/store/redis/connections.h"
#include "slipring/store/redis/inspect.h"
#include "slipring/store/redis/users.h"
#include "slipring/topology/codec.h"
#include "slipring/topology/routing.h"
#include "tests/support/fake_controller.h"
#include "tests/support/router_fixture.h"

namespace slipring::testing {
namespace {

using namespace channel;

struct Channel : ::testing::Test {
  Channel() {
    Pool pool;
    pool.name = "main";
    for (int i = 0; i < 2; ++i) {
      servers.push_back(std::make_unique<RedisServer>());
      servers.back()->start();
      pool.layout.nodes.push_back(node(i));
    }
    servers.push_back(std::make_unique<RedisServer>());
    servers.back()->start();
    snapshot.epoch = Epoch{5};
    snapshot.cluster_id = "0123456789abcdef";
    snapshot.pools.push_back(pool);
    options.id = "r1";
    options.listen = "127.0.0.1:0";
    options.controllers = {controller.address()};
    options.dir = dir.path();
    options.timeouts.request_ms = 1000;
    options.timeouts.connect_ms = 5000;
  }

  Node node(int i) {
    Node n;
    n.name = "n" + std::to_string(i + 1);
    n.instance.address = servers[static_cast<size_t>(i)]->address();
    return n;
  }
  redis::Client admin(int i) {
    RedisServer& server = *servers[static_cast<size_t>(i)];
    return std::move(*redis::Client::connect({server.address(), server.admin_user(), server.admin_password(), ""}));
  }
  Credentials make_generation(uint64_t generation) {
    Credentials credentials{generation, redis::router_user(snapshot.cluster_id, "r1", generation),
                            "00112233445566778899aabbccddee" + std::to_string(10 + generation)};
    for (int i = 0; i < 3; ++i) {
      redis::Client server = admin(i);
      EXPECT_TRUE(redis::create_router_user(server, credentials.user, credentials.password, ""));
    }
    return credentials;
  }
  void fence(uint64_t generation, int server) {
    redis::Client from = admin(server);
    const std::vector<std::string> users = {redis::router_user(snapshot.cluster_id, "r1", generation)};
    EXPECT_TRUE(redis::delete_users(from, users));
  }
  void start_router() {
    auto started = router::Router::start(options);
    ASSERT_TRUE(started.has_value()) << started.error().message;
    router = std::move(*started);
  }
  void welcome() {
    controller.send(Welcome{1, active, spare});
    controller.send(SnapshotPush{encode_snapshot(snapshot)});
  }
  // A router that serves epoch 5 with generation 1, and a client of it.
  void serve() {
    active = make_generation(1);
    spare = make_generation(2);
    start_router();
    controller.accept();
    welcome();
    controller.send(Synced{});
    EXPECT_EQ(controller.expect<EpochAck>(), (EpochAck{Epoch{5}, 1}));
    client = std::make_unique<RawClient>(router->port());
  }
  // n3 joins: the plan is open and the sources still own every move.
  void open_plan() {
    Pool& pool = snapshot.pools[0];
    OpenPlan plan;
    plan.id = 1;
    plan.next = pool.layout;
    plan.next.nodes.push_back(node(2));
    for (int i = 0; i < 2; ++i) plan.moves.push_back({node(i).instance, node(2).instance, 0, false});
    std::sort(plan.moves.begin(), plan.moves.end(),
              [](const MoveOwner& x, const MoveOwner& y) { return x.source < y.source; });
    pool.plan = plan;
    publish();
  }
  void publish() {
    snapshot.epoch = next(snapshot.epoch);
    controller.send(SnapshotPush{encode_snapshot(snapshot)});
    EXPECT_EQ(controller.expect<EpochAck>().epoch, snapshot.epoch);
  }
  AttemptOpen attempt(uint64_t number, std::vector<uint32_t> moves = {0, 1}) {
    return {number, snapshot.epoch, "main", std::move(moves), 10'000, 60'000};
  }
  // A key of the plan that moves from that node, or one that stays there.
  std::string key(int source, bool moves) {
    const auto routing = *PoolRouting::compile(snapshot.pools[0]);
    for (int i = 0;; ++i) {
      const std::string text = "k" + std::to_string(i);
      const Decision d = routing->decide(text);
      if ((d.move != kNoMove) == moves && routing->instances()[d.source] == node(source).instance) return text;
    }
  }
  std::string on_server(int i, const std::string& of) { return admin(i).command({"GET", of})->text; }
  void commit(uint64_t number) {
    for (MoveOwner& move : snapshot.pools[0].plan->moves) move.target_owns = true;
    snapshot.epoch = next(snapshot.epoch);
    controller.send(AttemptClosed{number, AttemptOutcome::kCommitted, snapshot.epoch});
    controller.send(SnapshotPush{encode_snapshot(snapshot)});
  }

  TempDir dir;
  FakeController controller;
  std::vector<std::unique_ptr<RedisServer>> servers;
  Snapshot snapshot;
  Credentials active, spare;
  router::Options options;
  std::unique_ptr<router::Router> router;
  std::unique_ptr<RawClient> client;
};

// Nothing could end what it sent there: such a connection has no user that a fence removes.
TEST_F(Channel, ARouterWithoutAGenerationSendsNothingToAServerThatAsksForNoLogin) {
  for (int i = 0; i < 2; ++i) {
    redis::Client server = admin(i);
    ASSERT_TRUE(server.call({"ACL", "SETUSER", "default", "on", "nopass", "~*", "+@all"}));
  }
  start_router();
  controller.accept();
  welcome();  // with no generation yet
  controller.send(Synced{});
  RawClient early(router->port());
  ASSERT_TRUE(eventually(20, [&] { return early.ask({"SET", "k", "v"}).find("not let this router in") != std::string::npos; }));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(admin(i).call({"DBSIZE"})->integer, 0);
  active = make_generation(1);
  spare = make_generation(2);
  controller.send(NewGeneration{active, spare});
  EXPECT_TRUE(eventually(20, [&] { return early.ask({"SET", "k", "v"}) == "+OK\r\n"; }));
}

TEST_F(Channel, IntroducesItselfAndServesWhatItIsGiven) {
  active = make_generation(1);
  start_router();
  EXPECT_FALSE(router->not_ready().empty());
  RawClient early(router->port());
  EXPECT_TRUE(early.ask({"GET", "k"}).starts_with("-ERR slipring: no node owns this key"));
  const Hello hello = controller.accept();
  EXPECT_EQ(hello.router_id, "r1");
  EXPECT_EQ(hello.epoch, Epoch{0});
  EXPECT_EQ(hello.generation, 0u);
  welcome();
  EXPECT_EQ(controller.expect<EpochAck>(), (EpochAck{Epoch{5}, 1}));
  EXPECT_TRUE(router->not_ready().empty());
  EXPECT_EQ(early.ask({"SET", "k", "1"}), "+OK\r\n");
  EXPECT_TRUE(controller.comes<RouterHeartbeat>(5000));
}

TEST_F(Channel, ServesOnWhenTheControllerGoesAwayAndComesBack) {
  serve();
  controller.hang_up();
  EXPECT_EQ(client->ask({"SET", "k", "1"}), "+OK\r\n");
  const Hello again = controller.accept();
  EXPECT_EQ(again.epoch, Epoch{5});
  EXPECT_EQ(again.generation, 1u);
  welcome();
  controller.send(SnapshotPush{encode_snapshot(snapshot)});
  EXPECT_EQ(controller.expect<EpochAck>(), (EpochAck{Epoch{5}, 1}));
}

TEST_F(Channel, RefusesADamagedSnapshotAndKeepsTheLast) {
  serve();
  std::string damaged = encode_snapshot(snapshot);
  damaged[damaged.size() / 2] ^= 1;
  controller.send(SnapshotPush{damaged});
  Snapshot invalid = snapshot;
  invalid.epoch = Epoch{9};
  invalid.pools[0].layout.nodes[1].instance = invalid.pools[0].layout.nodes[0].instance;
  controller.send(SnapshotPush{encode_snapshot(invalid)});
  EXPECT_FALSE(controller.comes<EpochAck>(300));
  EXPECT_EQ(router->epoch(), 5u);
  EXPECT_EQ(client->ask({"SET", "k", "1"}), "+OK\r\n");
}

TEST_F(Channel, HoldsMovingKeysOnlyAndReleasesThemToTheTarget) {
  serve();
  open_plan();
  const std::string moving = key(0, true), staying = key(0, false);
  EXPECT_EQ(client->ask({"SET", moving, "old"}), "+OK\r\n");
  controller.send(attempt(1));
  EXPECT_EQ(controller.expect<AttemptAck>(), (AttemptAck{1, 1}));
  RawClient other(router->port());
  std::string sent;
  resp::append_command(sent, {"SET", moving, "new"});
  resp::append_command(sent, {"PING"});
  client->send(sent);
  EXPECT_EQ(other.ask({"SET", staying, "1"}), "+OK\r\n");
  EXPECT_EQ(on_server(0, moving), "old") << "held";
  commit(1);
  EXPECT_EQ(client->read_reply(), "+OK\r\n");
  EXPECT_EQ(client->read_reply(), "+PONG\r\n");
  EXPECT_EQ(on_server(2, moving), "new");
  EXPECT_EQ(on_server(0, moving), "old");
}

TEST_F(Channel, AWithdrawnAttemptReleasesToTheSourceInOrder) {
  serve();
  open_plan();
  const std::string moving = key(1, true);
  controller.send(attempt(1));
  controller.expect<AttemptAck>();
  std::string sent;
  for (int i = 0; i < 50; ++i) resp::append_command(sent, {"RPUSH", moving, std::to_string(i)});
  client->send(sent);
  controller.send(AttemptClosed{1, AttemptOutcome::kWithdrawn, Epoch{0}});
  for (int i = 1; i <= 50; ++i) EXPECT_EQ(client->read_reply(), ":" + std::to_string(i) + "\r\n");
  EXPECT_EQ(admin(1).command({"LLEN", moving})->integer, 50);
  const std::string metrics = router->metrics();
  EXPECT_NE(metrics.find("slipring_router_held_commands 0"), std::string::npos);
}

TEST_F(Channel, HoldsTransactionsAndSplitCommandsWhole) {
  serve();
  open_plan();
  const std::string moving = key(0, true), staying = key(1, false);
  controller.send(attempt(1));
  controller.expect<AttemptAck>();
  EXPECT_EQ(client->ask({"MULTI"}), "+OK\r\n");
  EXPECT_EQ(client->ask({"SET", moving, "1"}), "+QUEUED\r\n");
  std::string exec;
  resp::append_command(exec, {"EXEC"});
  client->send(exec);
  RawClient splitter(router->port());
  std::string mset;
  resp::append_command(mset, {"MSET", staying, "s", moving, "m"});
  splitter.send(mset);
  RawClient other(router->port());
  EXPECT_EQ(other.ask({"PING"}), "+PONG\r\n");
  EXPECT_EQ(on_server(1, staying), "") << "no part of a held command runs";
  commit(1);
  EXPECT_EQ(client->read_reply(), "*1\r\n+OK\r\n");
  EXPECT_EQ(splitter.read_reply(), "+OK\r\n");
  EXPECT_EQ(on_server(2, moving), "m");
}

TEST_F(Channel, AcknowledgesOnlyWhenNothingIsInFlight) {
  serve();
  open_plan();
  const std::string moving = key(0, true);
  EXPECT_EQ(client->ask({"SET", moving, "1"}), "+OK\r\n");
  servers[0]->stop();
  std::string sent;
  resp::append_command(sent, {"INCR", moving});
  client->send(sent);
  RawClient other(router->port());
  EXPECT_EQ(other.ask({"SET", key(1, false), "1"}), "+OK\r\n");
  controller.send(attempt(1));
  // The request times out meanwhile; the connection that it was sent on may still run it.
  EXPECT_NE(client->read_reply().find("outcome unknown"), std::string::npos);
  EXPECT_FALSE(controller.comes<AttemptAck>(700));
  servers[0]->resume();
  EXPECT_EQ(controller.expect<AttemptAck>(), (AttemptAck{1, 1}));
  const std::string after = on_server(0, moving);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(on_server(0, moving), after) << "a request ran after the acknowledgement";
}

TEST_F(Channel, ARestartedServerHasForgottenWhatWasInFlight) {
  serve();
  open_plan();
  const std::string moving = key(0, true);
  servers[0]->stop();
  std::string sent;
  resp::append_command(sent, {"SET", moving, "1"});
  client->send(sent);
  EXPECT_NE(client->read_reply().find("outcome unknown"), std::string::npos);
  controller.send(attempt(1));
  servers[0]->resume();
  servers[0]->kill();
  EXPECT_FALSE(controller.comes<AttemptAck>(300));
  servers[0]->start();
  redis::Client client0 = admin(0);
  EXPECT_TRUE(redis::create_router_user(client0, active.user, active.password, ""));
  controller.expect<AttemptAck>();
}

TEST_F(Channel, AsksToWithdrawPastTheBoundAndAnswersTryagainPastTheMaximum) {
  serve();
  open_plan();
  const std::string moving = key(0, true);
  AttemptOpen open = attempt(1);
  open.hold_bound_ms = 50;
  open.hold_max_ms = 200;
  controller.send(open);
  controller.expect<AttemptAck>();
  std::string sent;
  resp::append_command(sent, {"SET", moving, "x"});
  resp::append_command(sent, {"PING"});
  client->send(sent);
  EXPECT_EQ(controller.expect<WithdrawRequest>(), WithdrawRequest{1});
  EXPECT_TRUE(client->read_reply().starts_with("-TRYAGAIN "));
  EXPECT_EQ(client->read_reply(), "+PONG\r\n");
  EXPECT_TRUE(client->ask({"GET", moving}).starts_with("-TRYAGAIN "));
  EXPECT_EQ(on_server(0, moving), "");
  commit(1);
  ASSERT_TRUE(eventually(30, [&] { return client->ask({"SET", moving, "y"}) == "+OK\r\n"; }));
  EXPECT_EQ(on_server(2, moving), "y");
}

TEST_F(Channel, HoldsOnWhileTheControllerIsAwayAndAsksAfterwards) {
  serve();
  open_plan();
  const std::string moving = key(0, true);
  controller.send(attempt(1));
  controller.expect<AttemptAck>();
  std::string sent;
  resp::append_command(sent, {"SET", moving, "x"});
  client->send(sent);
  controller.hang_up();
  controller.accept();
  EXPECT_EQ(on_server(0, moving), "");
  // Committed meanwhile: the snapshot says so.
  for (MoveOwner& move : snapshot.pools[0].plan->moves) move.target_owns = true;
  snapshot.epoch = next(snapshot.epoch);
  welcome();
  controller.send(Synced{});
  EXPECT_EQ(client->read_reply(), "+OK\r\n");
  EXPECT_EQ(on_server(2, moving), "x");
}

TEST_F(Channel, AFencedRouterErrsAsksAndServesAgainWithANewGeneration) {
  serve();
  const std::string a = key(0, false), b = key(1, false);
  EXPECT_EQ(client->ask({"SET", a, "1"}), "+OK\r\n");
  fence(1, 0);
  ASSERT_TRUE(eventually(30, [&] {
    return client->ask({"GET", a}).find("refused generation 1") != std::string::npos;
  }));
  EXPECT_EQ(controller.expect<GenerationRequest>(), GenerationRequest{1});
  EXPECT_EQ(client->ask({"SET", b, "1"}), "+OK\r\n") << "other nodes serve";
  controller.send(NewGeneration{make_generation(3), spare});
  EXPECT_EQ(controller.expect<EpochAck>(), (EpochAck{Epoch{5}, 3}));
  EXPECT_EQ(client->ask({"GET", a}), "$1\r\n1\r\n");
  EXPECT_EQ(router->generation(), 3u);
}

TEST_F(Channel, ChangingTheGenerationUnderLoadLosesNothing) {
  serve();
  std::string sent;
  std::string expected;
  for (int i = 0; i < 3000; ++i) {
    resp::append_command(sent, {"INCR", "{x}n"});
    expected += ":" + std::to_string(i + 1) + "\r\n";
  }
  const Credentials third = make_generation(3);
  client->send(sent.substr(0, sent.size() / 2));
  controller.send(NewGeneration{third, spare});
  client->send(sent.substr(sent.size() / 2));
  EXPECT_EQ(client->read(expected.size()), expected);
  EXPECT_EQ(controller.expect<EpochAck>().generation, 3u);
}

TEST_F(Channel, StartsFromDiskWithTheSpareGenerationWhileTheControllerIsAway) {
  serve();
  EXPECT_EQ(client->ask({"SET", "k", "1"}), "+OK\r\n");
  const std::string path = router::disk_state_path(dir.path(), "r1");
  ASSERT_TRUE(eventually(30, [&] { return router::read_disk_state(path).has_value(); }));
  router.reset();
  options.controllers = {"127.0.0.1:1"};
  start_router();
  ASSERT_TRUE(eventually(30, [&] { return router->not_ready().empty(); }));
  EXPECT_EQ(router->epoch(), 5u);
  EXPECT_EQ(router->generation(), 2u);
  EXPECT_FALSE(router->controller_connected());
  RawClient again(router->port());
  EXPECT_EQ(again.ask({"GET", "k"}), "$1\r\n1\r\n");
}

TEST_F(Channel, ADamagedDiskStateIsNotServedFrom) {
  const std::string path = router::disk_state_path(dir.path(), "r1");
  ASSERT_TRUE(router::write_disk_state(path, {snapshot, make_generation(2)}));
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(60);
    file.put('\x7f');
  }
  options.controllers = {"127.0.0.1:1"};
  start_router();
  RawClient early(router->port());
  EXPECT_FALSE(eventually(1, [&] { return router->not_ready().empty(); }));
  EXPECT_TRUE(early.ask({"GET", "k"}).starts_with("-ERR slipring: no node owns this key"));
}

TEST_F(Channel, FollowsARefusalToTheLeader) {
  FakeController leader;
  active = make_generation(1);
  start_router();
  controller.accept();
  controller.send(Refused{"does not lead", leader.address()});
  EXPECT_EQ(leader.accept().router_id, "r1");
}

// ---- servers that are fenced by names

struct NamedChannel : Channel {
  NamedChannel() {
    snapshot.pools[0].fence = PoolFence::kNames;
    options.login_of = [this](const std::string& address) -> Result<router::NodeLogin> {
      for (const auto& server : servers) {
        if (server->address() == address) return router::NodeLogin{server->admin_user(), server->admin_password()};
      }
      return fail(Code::kNotFound, address);
    };
    active = {1, redis::router_user(snapshot.cluster_id, "r1", 1), "unused"};
  }
  void start() {
    start_router();
    controller.accept();
    welcome();
    controller.send(Synced{});
    client = std::make_unique<RawClient>(router->port());
  }
  // What the router asks for the server's connection; others may come first.
  PermitRequest asked_for(int server) {
    const std::string address = node(server).instance.address;
    while (!asked.contains(address)) {
      const PermitRequest request = controller.expect<PermitRequest>();
      if (request.address.empty()) break;
      asked[request.address] = request;
    }
    PermitRequest request = asked[address];
    asked.erase(address);
    return request;
  }
  void grant(const PermitRequest& request) { controller.send(Permit{request.number, PermitAnswer::kGranted}); }
  std::string key_on(int server) {
    const auto routing = *PoolRouting::compile(snapshot.pools[0]);
    for (int i = 0;; ++i) {
      const std::string text = "k" + std::to_string(i);
      if (routing->instances()[routing->decide(text).owner] == node(server).instance) return text;
    }
  }
  std::vector<redis::Connection> named(int server, const std::string& name) {
    redis::Client from = admin(server);
    std::vector<redis::Connection> all = *redis::list_connections(from);
    std::erase_if(all, [&](const redis::Connection& c) { return c.name != name; });
    return all;
  }
  std::map<std::string, PermitRequest> asked;
};

TEST_F(NamedChannel, AConnectionIsNamedFirstAndCarriesNothingUntilItIsPermitted) {
  start();
  for (int i = 0; i < 2; ++i) {
    const PermitRequest request = asked_for(i);
    EXPECT_EQ(request.generation, 1u);
    redis::Client server = admin(i);
    EXPECT_EQ(request.run_id, redis::live_state(server)->identity.run_id);
    EXPECT_EQ(named(i, active.user).size(), 1u);
    std::string sent;
    resp::append_command(sent, {"SET", key_on(i), "v"});
    client->send(sent);
    // The router has taken the command: it answers what it is asked afterwards.
    EXPECT_EQ(RawClient(router->port()).ask({"PING"}), "+PONG\r\n");
    EXPECT_EQ(server.call({"DBSIZE"})->integer, 0);
    grant(request);
    EXPECT_EQ(client->read_reply(), "+OK\r\n");
  }
}

TEST_F(NamedChannel, APermitForAConnectionThatHasEndedOpensNoOther) {
  start();
  const PermitRequest first = asked_for(0);
  grant(asked_for(1));
  redis::Client server = admin(0);
  ASSERT_TRUE(redis::end_connections(server, [&](std::string_view name) { return name == active.user; }));
  const PermitRequest second = asked_for(0);
  EXPECT_NE(first.number, second.number);
  grant(first);
  EXPECT_TRUE(eventually(20, [&] { return client->ask({"SET", key_on(1), "v"}) == "+OK\r\n"; }));
  EXPECT_THAT(client->ask({"SET", key_on(0), "v"}), ::testing::HasSubstr("is down"));
  EXPECT_EQ(server.call({"DBSIZE"})->integer, 0);
  grant(second);
  EXPECT_TRUE(eventually(20, [&] { return client->ask({"SET", key_on(0), "v"}) == "+OK\r\n"; }));
}

TEST_F(NamedChannel, AFencedGenerationIsReplacedAndConnectionsAreNamedAnew) {
  start();
  for (int i = 0; i < 2; ++i) controller.send(Permit{asked_for(i).number, PermitAnswer::kFenced});
  EXPECT_EQ(controller.expect<GenerationRequest>().fenced_generation, 1u);
  active = {3, redis::router_user(snapshot.cluster_id, "r1", 3), "unused"};
  controller.send(NewGeneration{active, spare});
  for (int i = 0; i < 2; ++i) {
    PermitRequest request = asked_for(i);
    while (request.generation == 1) request = asked_for(i);
    EXPECT_EQ(request.generation, 3u);
    EXPECT_EQ(named(i, active.user).size(), 1u);
    grant(request);
    EXPECT_TRUE(eventually(20, [&] { return client->ask({"SET", key_on(i), "v"}) == "+OK\r\n"; }));
  }
}

TEST_F(NamedChannel, AWrongPasswordIsToldAndNobodyIsAskedForAGeneration) {
  options.login_of = [](const std::string&) { return router::NodeLogin{"", "wrong"}; };
  start();
  EXPECT_TRUE(eventually(20, [&] {
    return client->ask({"SET", "k", "v"}).find("node_credentials_file") != std::string::npos;
  }));
  EXPECT_FALSE(controller.comes<GenerationRequest>(300));
}

}  // namespace
}  // namespace slipring::testing
