import { expect, it } from 'vitest';
import { readEvents, type ServerEvent } from './sse.ts';

async function eventsIn(pieces: readonly Uint8Array[]): Promise<ServerEvent[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const events: ServerEvent[] = [];
  for await (const event of readEvents(body)) events.push(event);
  return events;
}

it.each(['\n', '\r\n', '\r'])(
  '[A10][K15] events are the same wherever their pieces end, with %j',
  async (end) => {
    const lines = [
      ': hello',
      '',
      'id: 1',
      'event: event',
      'data: é→𝄞',
      'data:two',
      '',
      'data: last',
      '',
      'data: half',
    ];
    const bytes = new TextEncoder().encode(lines.join(end));
    const expected = [
      { id: '1', name: 'event', data: 'é→𝄞\ntwo' },
      { id: null, name: null, data: 'last' },
    ];
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(await eventsIn([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(expected);
    }
    expect(await eventsIn(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(expected);
  },
);
