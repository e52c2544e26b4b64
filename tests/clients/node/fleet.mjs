// What the tests know of the fleet that node_test.py started.
import { existsSync, readFileSync } from 'node:fs';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export const port = Number(process.env.PORT);
const data = process.env.DATA;

// The libraries of `needs` (name: least major version of Node) that this Node can run.
export const releases = (needs) => {
  const node = Number(process.versions.node.split('.')[0]);
  return Object.keys(needs).filter((name) => node >= needs[name]);
};

const pidOf = (number) => {
  const path = `${data}/run/router-${number}.pid`;
  return existsSync(path) ? parseInt(readFileSync(path), 10) : 0;
};

const serves = (at) => new Promise((resolve) => {
  const socket = net.connect(at, '127.0.0.1', () => socket.write('*3\r\n$3\r\nSET\r\n$5\r\nprobe\r\n$1\r\n1\r\n'));
  socket.on('data', (bytes) => { socket.destroy(); resolve(String(bytes) === '+OK\r\n'); });
  socket.on('error', () => resolve(false));
  socket.on('close', () => resolve(false));
  socket.setTimeout(5000, () => socket.destroy());
});

const eventually = async (what, condition) => {
  for (const end = Date.now() + 60000; !await condition(); await sleep(20)) {
    if (Date.now() > end) throw new Error(`${what}: not within 60 s`);
  }
};

// Ends a router as a crash does, and waits until `up` has started it again.
export const killRouter = async (number) => {
  const before = pidOf(number);
  process.kill(before, 'SIGKILL');
  await eventually('the router is started again', () => ![0, before].includes(pidOf(number)));
  await eventually('the router serves again', () => serves(port + number - 1));
};
