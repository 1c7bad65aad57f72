import { join } from 'node:path';
import Database from 'libsql';
import { request } from 'undici';
import { AS_AGENT, startAkep } from '../akep.mjs';
import { fillEvents } from '../fill-events.mjs';
import { inRounds, spread } from '../rounds.mjs';
import { remove } from '../servers.mjs';

const MANY = 1_000_000;
const MANY_QUICKLY = 50_000;
const PAGE = 1000;

/** The whole inbox by its cursor, a thousand at a time, against a loop that reads the same bodies out of the same file. */
export const b4 = {
  name: 'B4',
  async run({ rounds, quick, say }) {
    const total = quick ? MANY_QUICKLY : MANY;
    say(`filling a store with ${total.toLocaleString('en')} events`);
    const folder = await fillEvents(total);
    const server = await startAkep(folder);
    const file = join(folder, 'data', 'lanternroom.db');
    try {
      const results = await inRounds(rounds, {
        raw: async () => perSecond(total, () => rawLoop(file)),
        ours: async () => perSecond(total, () => replay(server)),
      });
      return [toResult(total, results)];
    } finally {
      await server.stop();
      remove(folder);
    }
  },
};

async function perSecond(total, read) {
  const before = performance.now();
  const found = await read();
  if (found !== total) throw new Error(`${found} of ${total} events were read`);
  return total / ((performance.now() - before) / 1000);
}

function rawLoop(file) {
  const db = new Database(file, { readonly: true });
  const page = db.prepare('select seq, body from events where space_id = ? and seq > ? order by seq limit ?');
  const { space_id } = db.prepare('select space_id from spaces limit 1').get();
  let found = 0;
  for (let after = 0; ; ) {
    const rows = page.all(space_id, after, PAGE);
    if (rows.length === 0) break;
    found += rows.length;
    after = rows.at(-1).seq;
  }
  db.close();
  return found;
}

async function replay({ port }) {
  let found = 0;
  for (let cursor = ''; ; ) {
    const { body } = await request(`http://127.0.0.1:${port}/akep/events?limit=${PAGE}${cursor}`, {
      headers: AS_AGENT,
    });
    const text = await body.text();
    // Not parsed: that would measure this process. The end of a page says all that is needed.
    const end = /\],"next_cursor":"([^"]+)","has_more":(true|false)\}$/.exec(text.slice(-200));
    found += text.split('"event_id":"evt_seed_').length - 1;
    if (end[2] === 'false') return found;
    cursor = `&cursor=${end[1]}`;
  }
}

function toResult(total, { raw, ours }) {
  return {
    what: `replay of ${total.toLocaleString('en')} events, pages of ${PAGE.toLocaleString('en')}`,
    unit: '/s',
    ours: spread(ours),
    against: 'a raw SQLite page loop',
    baseline: spread(raw),
    ratio: spread(ours.map((rate, i) => rate / raw[i])),
    goal: { least: 0.33 },
  };
}
