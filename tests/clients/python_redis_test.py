"""Debian's python3-redis, unchanged, doing what applications do."""
import pathlib
import sys
import threading
import time
import unittest

import redis
from redis.backoff import ExponentialBackoff
from redis.retry import Retry

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from fleet import Fleet  # noqa: E402

fleet = None


def setUpModule():
    global fleet
    fleet = Fleet(program)


def tearDownModule():
    fleet.close()


def connect(**options):
    return redis.Redis(port=fleet.port, decode_responses=True, **options)


class Commands(unittest.TestCase):
    def setUp(self):
        self.r = connect()
        self.addCleanup(self.r.close)

    def test_strings_numbers_and_expiry(self):
        r = self.r
        self.assertTrue(r.set("py:a", "v", ex=100))
        self.assertTrue(0 < r.ttl("py:a") <= 100)
        self.assertTrue(r.persist("py:a"))
        self.assertEqual(r.ttl("py:a"), -1)
        self.assertIsNone(r.set("py:a", "w", nx=True))
        self.assertEqual(r.set("py:a", "w", get=True), "v")
        self.assertEqual(r.getex("py:a", px=5000), "w")
        self.assertEqual(r.getdel("py:a"), "w")
        self.assertIsNone(r.get("py:a"))
        self.assertEqual(r.incrby("py:n", 5), 5)
        self.assertEqual(r.decr("py:n"), 4)
        self.assertEqual(r.setbit("py:b", 7, 1), 0)
        self.assertEqual(r.bitcount("py:b"), 1)
        r.set("py:short", "1", px=1)
        deadline = time.monotonic() + 30
        while r.exists("py:short") and time.monotonic() < deadline:
            pass
        self.assertEqual(r.exists("py:short"), 0)

    def test_hashes_lists_sets_and_sorted_sets(self):
        r = self.r
        self.assertEqual(r.hset("py:h", mapping={"a": 1, "b": 2}), 2)
        self.assertEqual(r.hgetall("py:h"), {"a": "1", "b": "2"})
        self.assertEqual(r.hmget("py:h", "a", "x"), ["1", None])
        self.assertEqual(dict(r.hscan_iter("py:h")), {"a": "1", "b": "2"})
        r.rpush("py:l", *range(10))
        self.assertEqual(r.lrange("py:l", -3, -1), ["7", "8", "9"])
        self.assertEqual(r.lpop("py:l", 2), ["0", "1"])
        r.sadd("py:s", "x", "y")
        self.assertEqual(r.smembers("py:s"), {"x", "y"})
        self.assertEqual(set(r.sscan_iter("py:s")), {"x", "y"})
        r.zadd("py:z", {"one": 1, "two": 2.5})
        self.assertEqual(r.zrange("py:z", 0, -1, withscores=True), [("one", 1.0), ("two", 2.5)])
        self.assertEqual(r.zincrby("py:z", 2, "one"), 3.0)
        self.assertEqual(r.pfadd("py:hll", "a", "b"), 1)
        self.assertEqual(r.pfcount("py:hll"), 2)
        r.geoadd("py:geo", (13.36, 38.11, "palermo"))
        self.assertEqual(r.geosearch("py:geo", longitude=13, latitude=38, radius=100, unit="km"), ["palermo"])

    def test_streams_and_consumer_groups(self):
        r = self.r
        first = r.xadd("py:x", {"n": 1})
        r.xadd("py:x", {"n": 2})
        self.assertTrue(r.xgroup_create("py:x", "g", id="0"))
        [[_, entries]] = r.xreadgroup("g", "c", {"py:x": ">"}, count=1)
        self.assertEqual(entries, [(first, {"n": "1"})])
        self.assertEqual(r.xpending("py:x", "g")["pending"], 1)
        self.assertEqual(r.xack("py:x", "g", first), 1)
        self.assertEqual(r.xlen("py:x"), 2)
        self.assertEqual(len(r.xread({"py:x": 0})[0][1]), 2)
        self.assertEqual(r.xinfo_groups("py:x")[0]["name"], "g")
        self.assertEqual(r.xtrim("py:x", maxlen=1, approximate=False), 1)

    def test_keys_on_many_nodes_in_one_call(self):
        r = self.r
        values = {f"py:many:{i}": str(i) for i in range(200)}
        self.assertTrue(r.mset(values))
        self.assertEqual(r.mget(list(values)), list(values.values()))
        self.assertEqual(r.exists(*values), 200)
        self.assertEqual(r.delete(*values), 200)

    def test_binary_keys_and_values_come_back_as_they_were(self):
        raw = redis.Redis(port=fleet.port)
        key, value = bytes(range(256)), bytes(reversed(range(256))) * 4096
        self.assertTrue(raw.set(key, value))
        self.assertEqual(raw.get(key), value)
        dumped = raw.dump(key)
        self.assertEqual(raw.delete(key), 1)
        self.assertTrue(raw.restore(key, 0, dumped))
        self.assertEqual(raw.get(key), value)
        raw.close()

    def test_errors_are_errors_of_the_library_and_the_connection_stays(self):
        r = self.r
        r.set("py:str", "x")
        with self.assertRaises(redis.ResponseError) as caught:
            r.lpush("py:str", "y")
        self.assertIn("WRONGTYPE", str(caught.exception))
        with self.assertRaises(redis.ResponseError):
            r.execute_command("no-such-command", "x")
        with self.assertRaises(redis.ResponseError) as caught:
            r.sinter([f"py:cross:{i}" for i in range(20)])
        self.assertIn("nodes", str(caught.exception))
        self.assertEqual(r.get("py:str"), "x")

    def test_what_a_library_asks_of_a_server_is_answered(self):
        r = self.r
        self.assertEqual(r.info("server")["redis_mode"], "standalone")
        self.assertTrue(r.client_setname("app"))
        self.assertEqual(r.client_getname(), "app")
        self.assertGreater(r.client_id(), 0)
        self.assertEqual(r.echo("hello"), "hello")
        self.assertEqual(len(r.time()), 2)
        self.assertIn("get", r.command())


class Pipelines(unittest.TestCase):
    def setUp(self):
        self.r = connect()
        self.addCleanup(self.r.close)

    def test_a_plain_pipeline_over_all_nodes_keeps_its_order(self):
        with self.r.pipeline(transaction=False) as pipe:
            for i in range(5000):
                pipe.set(f"pp:{i}", i).get(f"pp:{i}")
            answers = pipe.execute()
        self.assertEqual(answers[1::2], [str(i) for i in range(5000)])
        self.assertTrue(all(answers[::2]))

    def test_the_default_pipeline_is_a_transaction_on_one_node(self):
        with self.r.pipeline() as pipe:
            pipe.set("{pp}a", 1)
            pipe.incr("{pp}a")
            pipe.hset("{pp}h", "f", "v")
            pipe.hgetall("{pp}h")
            self.assertEqual(pipe.execute(), [True, 2, 1, {"f": "v"}])

    def test_a_transaction_over_several_nodes_is_refused_whole(self):
        with self.r.pipeline() as pipe:
            for i in range(20):
                pipe.set(f"pp:refused:{i}", 1)
            with self.assertRaises(redis.RedisError) as caught:
                pipe.execute()
        self.assertIn("different nodes", str(caught.exception))
        self.assertEqual(self.r.exists(*[f"pp:refused:{i}" for i in range(20)]), 0)

    def test_an_error_inside_a_pipeline_leaves_the_other_answers(self):
        self.r.set("pp:str", "x")
        with self.r.pipeline(transaction=False) as pipe:
            pipe.get("pp:str")
            pipe.lpush("pp:str", "y")
            pipe.get("pp:str")
            answers = pipe.execute(raise_on_error=False)
        self.assertEqual([answers[0], answers[2]], ["x", "x"])
        self.assertIsInstance(answers[1], redis.ResponseError)

    def test_an_error_while_queueing_ends_the_transaction(self):
        with self.r.pipeline() as pipe:
            pipe.set("{pp}q", 1)
            pipe.execute_command("no-such-command")
            with self.assertRaises(redis.ResponseError):
                pipe.execute()
        self.assertEqual(self.r.exists("{pp}q"), 0)


class Connections(unittest.TestCase):
    def test_many_threads_share_a_pool(self):
        pool = redis.BlockingConnectionPool(port=fleet.port, max_connections=20, timeout=60, decode_responses=True)
        wrong = []

        def work(thread):
            r = redis.Redis(connection_pool=pool)
            for i in range(100):
                if r.incr(f"pool:{thread}") != i + 1:
                    wrong.append((thread, i))
            if r.get(f"pool:{thread}") != "100":
                wrong.append(thread)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        pool.disconnect()

    def test_five_hundred_connections_at_once_are_served(self):
        clients = [connect() for _ in range(500)]
        for i, r in enumerate(clients):
            self.assertTrue(r.set(f"conn:{i}", i))
        for i, r in enumerate(clients):
            self.assertEqual(r.get(f"conn:{i}"), str(i))
        for r in clients:
            r.close()

    def test_resp3_is_spoken_where_it_is_asked_for(self):
        """This library speaks RESP2; the newer protocol is asked for by hand on a connection of its own."""
        r = connect(single_connection_client=True)
        self.assertIn("proto", r.execute_command("HELLO", 2))
        r.connection.send_command("HELLO", 3)
        reader = r.connection._sock.makefile("rb")
        self.assertEqual(reader.readline(), b"%7\r\n")
        r.close()

    def test_a_client_comes_back_by_itself_after_its_router_was_killed(self):
        r = connect(retry=Retry(ExponentialBackoff(cap=1, base=0.05), 60), retry_on_error=[redis.ConnectionError])
        self.assertTrue(r.set("back", "here"))
        fleet.kill_router(1)
        self.assertEqual(r.get("back"), "here")
        other = redis.Redis(port=fleet.port + 1, decode_responses=True)
        self.assertEqual(other.get("back"), "here")
        r.close()
        other.close()


if __name__ == "__main__":
    program = sys.argv.pop(1)
    unittest.main(verbosity=2)
