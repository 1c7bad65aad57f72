import { expect, it, onTestFinished, vi } from 'vitest';
import { Link } from './link.ts';
import type { OpenSocket, SocketEars } from './socket.ts';

const HELLO = JSON.stringify({
  type: 'hello',
  agent: '@home/a',
  connectionId: 'link_1',
  maxFrameBytes: 1024,
});
const LONG_MS = 60_000;

/** A link whose socket is in the test's hands, and a clock that moves when it is told to. */
async function opened() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const stop = new AbortController();
  const cut = vi.fn();
  let hub: SocketEars | undefined;
  const open: OpenSocket = async (_target, ears) => {
    hub = ears;
    return { send: () => {}, close: () => ears.closed({ code: 1000, reason: '' }), cut };
  };
  const link = new Link({
    open,
    target: () => ({ url: 'ws://hub.test', protocol: 'lantern.v1', headers: {} }),
    clock: { now: () => 0, sleep: async () => {} },
    random: () => 0,
    onHello: () => {},
    onFrame: () => {},
    onTrouble: () => {},
  });
  const ended = link.run(stop.signal).catch(() => {});
  onTestFinished(async () => {
    stop.abort();
    await ended;
    vi.useRealTimers();
  });
  await vi.waitUntil(() => hub !== undefined);
  return { link, cut, say: (text: string) => hub?.text(text) };
}

it('[A13] a hub that takes the connection and never greets is hung up on', async () => {
  const { link, cut } = await opened();
  await vi.advanceTimersByTimeAsync(LONG_MS);
  expect(cut).toHaveBeenCalledOnce();
  expect(link.isUp).toBe(false);
});

it('[A13] a hub that has greeted may be silent for as long as it likes', async () => {
  const { link, cut, say } = await opened();
  say(HELLO);
  await vi.advanceTimersByTimeAsync(LONG_MS);
  expect(cut).not.toHaveBeenCalled();
  expect(link.isUp).toBe(true);
});
