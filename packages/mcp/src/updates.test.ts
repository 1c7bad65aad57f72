import { getEventListeners } from 'node:events';
import { createCaller } from '@lanternroom/sdk/a2a';
import { createInbox } from '@lanternroom/sdk/akep';
import { createWake, memoryLog } from '@lanternroom/sdk/wake';
import { afterEach, expect, it, vi } from 'vitest';
import { createLanternServer } from './server.ts';
import { pushUpdates } from './updates.ts';

afterEach(() => void vi.useRealTimers());

/** Pushes updates from an inbox that is read through this fetch, until stopped. */
function pushing(fetch: typeof globalThis.fetch): AbortController {
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
  pushUpdates(createLanternServer(room, { announces: true }), room, 'modern', ending.signal);
  return ending;
}

it('[M7] a server that holds no request is not asked without a pause', async () => {
  vi.useFakeTimers();
  let looks = 0;
  const ending = pushing(async (address) => {
    looks += 1;
    // Without a pause it would never let go of this process.
    if (looks > 100) return new Promise<Response>(() => undefined);
    const page = { events: [], next_cursor: 'c1', has_more: false };
    return String(address).includes('/wait') ? new Response(null, { status: 204 }) : Response.json(page);
  });
  await vi.advanceTimersByTimeAsync(60_000);
  ending.abort();
  expect(looks).toBeGreaterThan(5);
  expect(looks).toBeLessThan(20);
});

it('[M7] a server that is away for long leaves nothing behind with each look at it', async () => {
  vi.useFakeTimers();
  let looks = 0;
  const ending = pushing(() => {
    looks += 1;
    return Promise.reject(new TypeError('fetch failed'));
  });
  await vi.advanceTimersByTimeAsync(10_000);
  const before = looks;
  await vi.advanceTimersByTimeAsync(600_000);
  expect(looks).toBeGreaterThan(before + 20);
  expect(getEventListeners(ending.signal, 'abort').length).toBeLessThan(4);
  ending.abort();
});
