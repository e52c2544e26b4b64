// ioredis, unchanged, doing what applications do. PORT: the first router's.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { killRouter, port, releases } from './fleet.mjs';

for (const name of releases({ ioredis: 20, ioredis5: 18 })) {
  describe(name, { timeout: 200000 }, async () => {
    const { default: Redis } = await import(name);
    const p = `${name}:`;
    let r;
    before(() => { r = new Redis({ port }); });
    after(() => r.quit());

    test('strings, numbers and expiry', async () => {
      assert.equal(await r.set(`${p}a`, 'v', 'EX', 100), 'OK');
      assert.ok(await r.ttl(`${p}a`) > 90);
      assert.equal(await r.get(`${p}a`), 'v');
      assert.equal(await r.set(`${p}a`, 'w', 'NX'), null);
      assert.equal(await r.incrby(`${p}n`, 5), 5);
      assert.equal(await r.getdel(`${p}a`), 'v');
      assert.equal(await r.exists(`${p}a`), 0);
      assert.equal(await r.pexpire(`${p}n`, 100000), 1);
    });

    test('hashes, lists, sorted sets and streams', async () => {
      assert.equal(await r.hset(`${p}h`, { a: 1, b: 2 }), 2);
      assert.deepEqual({ ...await r.hgetall(`${p}h`) }, { a: '1', b: '2' });
      assert.equal(await r.rpush(`${p}l`, 1, 2, 3), 3);
      assert.deepEqual(await r.lrange(`${p}l`, 0, -1), ['1', '2', '3']);
      assert.equal(await r.zadd(`${p}z`, 1, 'one', 2, 'two'), 2);
      assert.deepEqual(await r.zrange(`${p}z`, 0, -1, 'WITHSCORES'), ['one', '1', 'two', '2']);
      const id = await r.xadd(`${p}x`, '*', 'n', '1');
      await r.xgroup('CREATE', `${p}x`, 'g', '0');
      assert.deepEqual(await r.xreadgroup('GROUP', 'g', 'c', 'STREAMS', `${p}x`, '>'), [[`${p}x`, [[id, ['n', '1']]]]]);
      assert.equal(await r.xack(`${p}x`, 'g', id), 1);
    });

    test('keys on many nodes in one call', async () => {
      const keys = Array.from({ length: 100 }, (_, i) => `${p}m:${i}`);
      assert.equal(await r.mset(new Map(keys.map((k, i) => [k, i]))), 'OK');
      assert.deepEqual(await r.mget(...keys), keys.map((_, i) => String(i)));
      assert.equal(await r.del(...keys), 100);
    });

    test('a pipeline over all nodes keeps its order', async () => {
      const pipe = r.pipeline();
      for (let i = 0; i < 2000; ++i) pipe.set(`${p}p:${i}`, i).get(`${p}p:${i}`);
      const answers = await pipe.exec();
      answers.forEach(([error, value], i) => {
        assert.equal(error, null);
        assert.equal(value, i % 2 ? String(i >> 1) : 'OK');
      });
    });

    test('commands without await arrive in order', async () => {
      const answers = await Promise.all(Array.from({ length: 500 }, () => r.incr(`${p}auto`)));
      assert.deepEqual(answers, Array.from({ length: 500 }, (_, i) => i + 1));
    });

    test('a transaction runs on one node, and over several it is refused whole', async () => {
      assert.deepEqual(await r.multi().set(`{${p}}t`, 1).incr(`{${p}}t`).exec(), [[null, 'OK'], [null, 2]]);
      const several = r.multi();
      for (let i = 0; i < 20; ++i) several.set(`${p}refused:${i}`, 1);
      await assert.rejects(several.exec(), /different nodes/);
      assert.equal(await r.exists(`${p}refused:0`, `${p}refused:1`), 0);
    });

    test('an error is a rejection and the connection stays', async () => {
      await r.set(`${p}str`, 'x');
      await assert.rejects(r.lpush(`${p}str`, 'y'), /WRONGTYPE/);
      await assert.rejects(r.call('no-such-command'), /unknown command/);
      await assert.rejects(r.sinter(...Array.from({ length: 20 }, (_, i) => `${p}c:${i}`)), /CROSSSLOT/);
      assert.equal(await r.get(`${p}str`), 'x');
    });

    test('binary values come back as they were', async () => {
      const value = Buffer.from(Array.from({ length: 100000 }, (_, i) => i & 255));
      await r.set(`${p}bin`, value);
      assert.ok(value.equals(await r.getBuffer(`${p}bin`)));
    });

    test('two hundred connections are served', async () => {
      const many = Array.from({ length: 200 }, () => new Redis({ port: port + 1 }));
      const counts = await Promise.all(many.map((c) => c.incr(`${p}many`)));
      assert.deepEqual(counts.sort((a, b) => a - b), Array.from({ length: 200 }, (_, i) => i + 1));
      await Promise.all(many.map((c) => c.quit()));
    });

    test('it comes back by itself after its router was killed', async () => {
      await r.set(`${p}back`, 'here');
      await killRouter(1);
      assert.equal(await r.get(`${p}back`), 'here');
    });
  });
}
