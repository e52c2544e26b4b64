// node-redis, unchanged, doing what applications do, over RESP2 and RESP3.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { killRouter, port, releases } from './fleet.mjs';

// Version 4 speaks RESP2 only; from 5 on either is asked for. Version 5 calls what it makes of some RESP3 answers unstable.
const forms = releases({ redis: 20, redis5: 18, redis4: 18 }).flatMap((name) =>
  name === 'redis4' ? [{ name, options: {} }] : [2, 3].map((RESP) => ({ name, options: { RESP, unstableResp3: true } })));

for (const { name, options } of forms) {
  const p = `${name}:${options.RESP ?? 2}:`;
  describe(p, { timeout: 200000 }, async () => {
    const { createClient } = await import(name);
    const open = async (at = port) => {
      const client = createClient({ ...options, socket: { host: '127.0.0.1', port: at } });
      client.on('error', () => {});
      return client.connect();
    };
    let r;
    before(async () => { r = await open(); });
    after(() => r.quit?.() ?? r.close());

    test('strings, numbers and expiry', async () => {
      assert.equal(await r.set(`${p}a`, 'v', { EX: 100 }), 'OK');
      assert.ok(await r.ttl(`${p}a`) > 90);
      assert.equal(await r.set(`${p}a`, 'w', { NX: true }), null);
      assert.equal(await r.incrBy(`${p}n`, 5), 5);
      assert.equal(await r.getDel(`${p}a`), 'v');
      assert.equal(await r.exists(`${p}a`), 0);
    });

    test('hashes, lists, sorted sets and streams', async () => {
      assert.equal(await r.hSet(`${p}h`, { a: '1', b: '2' }), 2);
      assert.deepEqual({ ...await r.hGetAll(`${p}h`) }, { a: '1', b: '2' });
      assert.equal(await r.rPush(`${p}l`, ['1', '2', '3']), 3);
      assert.deepEqual(await r.lRange(`${p}l`, 0, -1), ['1', '2', '3']);
      assert.equal(await r.zAdd(`${p}z`, [{ score: 1, value: 'one' }, { score: 2.5, value: 'two' }]), 2);
      assert.deepEqual((await r.zRangeWithScores(`${p}z`, 0, -1)).map(({ score, value }) => [value, score]),
        [['one', 1], ['two', 2.5]]);
      const id = await r.xAdd(`${p}x`, '*', { n: '1' });
      await r.xGroupCreate(`${p}x`, 'g', '0');
      const read = await r.xReadGroup('g', 'c', { key: `${p}x`, id: '>' });
      assert.ok(JSON.stringify(read).includes(id), JSON.stringify(read));
      assert.equal(await r.xAck(`${p}x`, 'g', id), 1);
    });

    test('keys on many nodes in one call', async () => {
      const keys = Array.from({ length: 100 }, (_, i) => `${p}m:${i}`);
      assert.equal(await r.mSet(keys.map((k, i) => [k, String(i)])), 'OK');
      assert.deepEqual(await r.mGet(keys), keys.map((_, i) => String(i)));
      assert.equal(await r.del(keys), 100);
    });

    test('commands without await arrive in order', async () => {
      const answers = await Promise.all(Array.from({ length: 500 }, () => r.incr(`${p}auto`)));
      assert.deepEqual(answers, Array.from({ length: 500 }, (_, i) => i + 1));
    });

    test('a transaction runs on one node, and over several it is refused whole', async () => {
      assert.deepEqual(await r.multi().set(`{${p}}t`, '1').incr(`{${p}}t`).exec(), ['OK', 2]);
      const several = r.multi();
      for (let i = 0; i < 20; ++i) several.set(`${p}refused:${i}`, '1');
      await assert.rejects(several.exec(), /different nodes/);
      assert.equal(await r.exists([`${p}refused:0`, `${p}refused:1`]), 0);
    });

    test('an error is a rejection and the connection stays', async () => {
      await r.set(`${p}str`, 'x');
      await assert.rejects(r.lPush(`${p}str`, 'y'), /WRONGTYPE/);
      await assert.rejects(r.sendCommand(['no-such-command']), /unknown command/);
      await assert.rejects(r.sInter(Array.from({ length: 20 }, (_, i) => `${p}c:${i}`)), /CROSSSLOT/);
      assert.equal(await r.get(`${p}str`), 'x');
    });

    test('a hundred connections are served', async () => {
      const many = await Promise.all(Array.from({ length: 100 }, () => open(port + 1)));
      const counts = await Promise.all(many.map((c) => c.incr(`${p}many`)));
      assert.deepEqual(counts.sort((a, b) => a - b), Array.from({ length: 100 }, (_, i) => i + 1));
      await Promise.all(many.map((c) => c.quit?.() ?? c.close()));
    });

    test('it comes back by itself after its router was killed', async () => {
      await r.set(`${p}back`, 'here');
      await killRouter(1);
      assert.equal(await r.get(`${p}back`), 'here');
    });
  });
}
