import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { request } from 'undici';
import { AS_AGENT, startAkep } from '../requests/akep.mjs';
import { events } from '../requests/signed.mjs';
import { inRounds, spread } from '../rounds.mjs';
import { remove, temporaryFolder } from '../servers.mjs';
import { fillEvents } from '../stores/fill-events.mjs';

const MANY = 1_000_000;
const MANY_QUICKLY = 50_000;
const PAGE = 1000;
const EVENT = Buffer.from('"event_id":"evt_seed_');

/** The whole inbox by its cursor, a thousand at a time, against a loop that reads such bodies out of a plain table. */
export const b4 = {
  name: 'B4',
  async run({ rounds, quick, say }) {
    const total = quick ? MANY_QUICKLY : MANY;
    say(`filling a store with ${total.toLocaleString('en')} events`);
    const folder = await fillEvents(total);
    const server = await startAkep(folder);
    const raw = fillRaw(total);
    try {
      const results = await inRounds(rounds, {
        raw: async () => perSecond(total, () => rawLoop(raw.file)),
        ours: async () => perSecond(total, () => replay(server)),
      });
      return [toResult(total, results)];
    } finally {
      await server.stop();
      remove(folder);
      remove(raw.folder);
    }
  },
};

async function perSecond(total, read) {
  const before = performance.now();
  const found = await read();
  if (found !== total) throw new Error(`${found} of ${total} events were read`);
  return total / ((performance.now() - before) / 1000);
}

/** The same envelopes, one row each, open, with no index but that of their order. */
function fillRaw(total) {
  const folder = temporaryFolder();
  const file = join(folder, 'raw.db');
  const db = new DatabaseSync(file);
  db.exec('pragma page_size = 8192; pragma journal_mode = wal');
  db.exec('create table events (space_id text, seq bigint, body blob, primary key (space_id, seq))');
  const insert = db.prepare('insert into events values (?, ?, ?)');
  const samples = events(256);
  db.exec('begin');
  for (let seq = 1; seq <= total; seq++) {
    const event = { ...samples[seq % samples.length], event_id: `evt_seed_${seq}_padding` };
    insert.run('sp_raw', seq, Buffer.from(JSON.stringify(event)));
  }
  db.exec('commit');
  db.close();
  return { folder, file };
}

function rawLoop(file) {
  const db = new DatabaseSync(file, { readOnly: true });
  const page = db.prepare('select seq, body from events where space_id = ? and seq > ? order by seq limit ?');
  let found = 0;
  for (let after = 0; ; ) {
    const rows = page.all('sp_raw', after, PAGE);
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
    // Neither parsed nor made text: that would measure this process. The end of a page says all that is needed.
    const bytes = Buffer.from(await body.arrayBuffer());
    const end = /\],"next_cursor":"([^"]+)","has_more":(true|false)\}$/.exec(
      bytes.subarray(-200).toString('latin1'),
    );
    for (let at = bytes.indexOf(EVENT); at >= 0; at = bytes.indexOf(EVENT, at + EVENT.length)) found++;
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
