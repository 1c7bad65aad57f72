import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { signal } from '../testing/network/receivers.ts';
import { makeApp } from './app.ts';

test('a door that takes long to load, on a slow machine, does not end the start', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const log = pino({ level: 'silent' });
  const app = makeApp({ tls: null, log, proxies: [], baseUrl: () => 'http://localhost' });
  const [begun, loaded] = [signal(), signal()];
  app.register(async (door) => {
    begun.fire();
    await loaded.seen;
    door.get('/', async () => 'loaded');
  });
  const ready = app.ready();
  await begun.seen;
  vi.advanceTimersByTime(600_000);
  loaded.fire();
  await ready;
  expect((await app.inject('/')).body).toBe('loaded');
});
