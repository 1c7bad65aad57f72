import { getEventListeners } from 'node:events';
import { createCaller } from '@lanternroom/sdk/a2a';
import { createInbox } from '@lanternroom/sdk/akep';
import { createWake, memoryLog } from '@lanternroom/sdk/wake';
import { afterEach, expect, it, vi } from 'vitest';
import { createLanternServer } from './server.ts';
import { pushUpdates } from './updates.ts';

afterEach(() => void vi.useRealTimers());

it('[M7] a server that is away for long leaves nothing behind with each look at it', async () => {
  vi.useFakeTimers();
  let looks = 0;
  const fetch = () => {
    looks += 1;
    return Promise.reject(new TypeError('fetch failed'));
  };
  const away = { url: 'https://desk.example.com', apiKey: 'wk_test_a', log: memoryLog(), fetch };
  const room = {
    wake: createWake({ ...away, agentId: 'agent-01', provider: 'mcp' }),
    inbox: createInbox(away),
    agent: (agent: string) => createCaller({ agent, fetch }),
    deskUrl: (id: string) => `${away.url}/d/${id}`,
    vouchesForIds: false,
    version: '0',
  };
  const ending = new AbortController();
  pushUpdates(createLanternServer(room), room, 'modern', ending.signal);
  await vi.advanceTimersByTimeAsync(10_000);
  const before = looks;
  await vi.advanceTimersByTimeAsync(600_000);
  expect(looks).toBeGreaterThan(before + 20);
  expect(getEventListeners(ending.signal, 'abort').length).toBeLessThan(4);
  ending.abort();
});
