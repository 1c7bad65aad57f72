import { expect } from 'vitest';
import type { AkepClient } from '../support/akep.ts';
import type { Desk } from '../support/desk.ts';
import type { EventLoad } from './events-load.ts';

/** L1, L2: what was accepted is a duplicate now; what nobody heard of again is taken, or was taken before. */
export async function repeatEvents(client: AkepClient, load: EventLoad): Promise<void> {
  const left = [...load.sent];
  const repeat = async () => {
    for (let one = left.pop(); one !== undefined; one = left.pop()) {
      const [id, event] = one;
      const { status, json } = await client.send(event);
      expect([id, status]).toEqual([id, 202]);
      if (load.accepted.has(id)) expect([id, json.duplicate]).toEqual([id, true]);
      load.accepted.add(id);
    }
  };
  await Promise.all(Array.from({ length: 8 }, repeat));
}

/** L3: every reader has seen a beginning of the one order, nothing twice and nothing left out. */
export function compareReaders(load: EventLoad, order: readonly string[]): void {
  for (const { seen } of load.readers) expect(seen).toEqual(order.slice(0, seen.length));
}

/** The places of the inbox, oldest first. */
export async function offsets(desk: Desk): Promise<number[]> {
  const found: number[] = [];
  let cursor = '';
  for (;;) {
    const path = `/desk/events?agent=agent-01&limit=200${cursor}`;
    const { json } = await desk.request<{ events: { offset: number }[]; next_cursor: string | null }>(
      'GET',
      path,
    );
    found.push(...json.events.map((event) => event.offset));
    if (json.next_cursor === null) return found.reverse();
    cursor = `&cursor=${json.next_cursor}`;
  }
}

/** L2: one resume for each wait, and none for a wait that is still open. */
export async function resumesOnce(client: AkepClient, load: EventLoad): Promise<void> {
  const woken: string[] = [];
  let cursor = '';
  for (;;) {
    const { json } = await client.request<{
      resumes: { wait_id: string }[];
      next_cursor: string;
      has_more: boolean;
    }>('GET', `/akep/resumes?limit=1000${cursor}`);
    woken.push(...json.resumes.map((resume) => resume.wait_id));
    if (!json.has_more) break;
    cursor = `&cursor=${json.next_cursor}`;
  }
  expect(new Set(woken).size).toBe(woken.length);
  const { json } = await client.request<{ waits: { wait_id: string }[] }>('GET', '/akep/waits');
  const open = json.waits.map((wait) => wait.wait_id);
  expect(open.filter((id) => woken.includes(id))).toEqual([]);
  for (const id of load.waits) expect([id, woken.includes(id) || open.includes(id)]).toEqual([id, true]);
}
