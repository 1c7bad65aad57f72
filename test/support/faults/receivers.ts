import type { ServerResponse } from 'node:http';
import { type Manners, takes } from '../checker/outside.ts';
import { pause } from '../until.ts';
import type { Site } from './site.ts';

const drip = (reply: ServerResponse) => {
  reply.socket?.write('HTTP/1.1 200 OK\r\nX-Slow: ');
  const timer = setInterval(() => {
    if (reply.destroyed) clearInterval(timer);
    else reply.socket?.write('x');
  }, 100);
};

const MANNERS: readonly Manners[] = [
  () => {}, // hangs
  drip,
  (reply) => reply.socket?.resetAndDestroy(),
  (reply) => reply.socket?.end('I am no server\r\n\r\n'),
  (reply) => reply.writeHead(302, { location: 'http://127.0.0.1:1/elsewhere' }).end(),
  (reply) => reply.writeHead(500).end('x'.repeat(1000)),
];

/** They hang, drip, reset, babble, redirect and fail, each at the first attempt; then they are sound. */
export async function badReceivers({ checker: { receiver }, random }: Site): Promise<void> {
  receiver.manners = (reply, isFirst) => {
    if (isFirst) (random.pick(MANNERS) ?? takes)(reply, isFirst);
    else takes(reply, isFirst);
  };
  await pause(4000);
  receiver.manners = takes;
  receiver.release();
}
