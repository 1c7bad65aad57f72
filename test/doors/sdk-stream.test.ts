import { createInbox } from '@lanternroom/sdk/akep';
import { memoryLog } from '@lanternroom/sdk/wake';
import { expect, it } from 'vitest';
import { AkepClient, sampleEvent, WEBHOOK_SECRET } from '../support/akep.ts';
import { AGENT, Server } from '../support/server.ts';

it('[K15] the SDK streams from a real server: what was there, then what comes, from a place on', async () => {
  const server = await Server.start({ env: { AKEP_WEBHOOK_SECRET: WEBHOOK_SECRET } });
  const world = new AkepClient(server.url);
  await world.sent(sampleEvent('evt_stream_1'));
  const inbox = createInbox({ url: server.url, apiKey: AGENT.key, log: memoryLog() });
  const ids: string[] = [];
  let place = '';
  for await (const item of inbox.stream()) {
    if (item.type !== 'event') continue;
    ids.push(item.event.event_id);
    if (ids.length === 1) place = item.cursor;
    if (ids.length === 1) await world.sent(sampleEvent('evt_stream_2'));
    else break;
  }
  expect(ids).toEqual(['evt_stream_1', 'evt_stream_2']);
  for await (const item of inbox.stream({ cursor: place })) {
    expect(item).toMatchObject({ type: 'event', event: { event_id: 'evt_stream_2' } });
    break;
  }
});
