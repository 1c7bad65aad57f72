import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../config.ts';
import { foundSpace } from '../core/agents/found.ts';
import { orThrow } from '../core/faults.ts';
import type { Verdict } from '../core/ledger/audit.ts';
import { checkpointText, type LedgerLine, lineHash } from '../core/ledger/ledger.ts';
import { record } from '../core/room.ts';
import { type Ground, openGround } from '../main.ts';
import { freshFolder } from '../testing/folders.ts';
import { ManualClock } from '../testing/world.ts';
import { Auditor } from './auditor.ts';
import { Database } from './sqlite/driver.ts';
import type { Session } from './statement.ts';
import { MasterVault } from './vault.ts';

const LINES = 30;

type Case = {
  ground: Ground & { clock: ManualClock };
  space: string;
  /** As somebody would who has the file and knows SQL, but not the master key. */
  tamper(sql: string, ...values: unknown[]): void;
  lines(): LedgerLine[];
  verify(): Promise<Verdict>;
};

function write(ground: Ground, space: string): Promise<number> {
  const { room } = ground;
  return room.store.write(space, ['ledger'], (tx) =>
    record(room, tx, room.clock.now(), { actor: 'test', action: 'thing.done', subject: 'thing', data: {} }),
  );
}

/** A ledger of thirty lines with checkpoints at lines 10 and 20, in the database and in the file. */
async function openCase(): Promise<Case> {
  const folder = freshFolder();
  const clock = new ManualClock();
  const ground = { ...(await openGround(readConfig({ flags: { data: folder }, env: {} }), clock)), clock };
  onTestFinished(() => ground.stop());
  const { id: space } = orThrow(await foundSpace(ground.room, 'home', 'test'));
  for (let seq = 2; seq <= LINES; seq++) {
    await write(ground, space);
    if (seq === 10 || seq === 20) await ground.auditor.checkpointAll();
  }
  const db = new Database(ground.data.local?.file ?? '');
  onTestFinished(() => void db.close());
  return {
    ground,
    space,
    tamper: (sql, ...values) => void db.prepare(sql).run(...values),
    lines: () =>
      (db.prepare('select * from ledger order by seq').all() as (LedgerLine & { space_id: string })[]).map(
        ({ space_id, ...line }) => ({ ...line, space: space_id }),
      ),
    verify: () => ground.auditor.verify(space),
  };
}

test('[W29][D23] many who verify the same ledger at once follow it once', async () => {
  const { verify } = await openCase();
  const [first, ...others] = await Promise.all([verify(), verify(), verify()]);
  for (const verdict of others) expect(verdict).toBe(first);
  expect(await verify()).not.toBe(first);
});

/** Found, with a place and a sentence. */
function expectFound(verdict: Verdict, ...places: number[]): void {
  expect(verdict.ok).toBe(false);
  const [first] = verdict.problems;
  expect(places).toContain(first?.seq);
  expect(first?.problem).toMatch(/line|checkpoint|ledger/);
}

describe('an honest ledger', () => {
  test('[D21] verifies, and says how long it is and where it ends', async () => {
    const { verify, lines } = await openCase();
    expect(await verify()).toMatchObject({
      ok: true,
      entries: LINES,
      head: lines().at(-1)?.hash,
      checkpoints: 2,
      problems: [],
    });
  });

  test('[W29][D22] its signatures are checked a few at a time, and none twice', async () => {
    const { ground, space, lines } = await openCase();
    const { vault } = ground.room;
    const kept = lines().map(({ seq, hash }) => {
      const unsigned = { space, seq, hash, at: seq };
      return JSON.stringify({ ...unsigned, signature: vault.sign(checkpointText(unsigned)) });
    });
    appendFileSync(ground.data.checkpoints, `\n${[...kept, ...kept, ...kept].join('\n')}`);
    const steps: number[] = [];
    const verdict = await ground.auditor.verify(space, (entries) => steps.push(entries));
    expect(verdict).toMatchObject({ ok: true, checkpoints: LINES });
    expect(steps).toEqual([0, LINES]);
  });

  test('[D21] that is empty or unknown verifies as well', async () => {
    const { ground } = await openCase();
    expect(await ground.auditor.verify('sp_nowhere')).toMatchObject({ ok: true, entries: 0 });
  });

  test('[D22] a checkpoint is made when there is something new, in the database and in the file', async () => {
    const { ground, space } = await openCase();
    const kept = () =>
      readFileSync(ground.data.checkpoints, 'utf8')
        .trim()
        .split('\n')
        .map((l) => JSON.parse(l));
    await ground.auditor.checkpointAll();
    await ground.auditor.checkpointAll();
    const stored = await ground.room.store.read(space, (tx) => tx.ledger.checkpoints());
    expect(stored.map((c) => c.seq)).toEqual([10, 20, LINES]);
    expect(kept()).toEqual(stored);
  });

  test('[D22] one that cannot be signed keeps no other from it', async () => {
    const { ground, space, tamper } = await openCase();
    const { id: second } = orThrow(await foundSpace(ground.room, 'second', 'test'));
    tamper(`create trigger stuck before insert on checkpoints when new.space_id = '${space}'
      begin select raise(abort, 'stuck'); end`);
    await expect(ground.auditor.checkpointAll()).rejects.toThrow('stuck');
    const stored = await ground.room.store.read(second, (tx) => tx.ledger.checkpoints());
    expect(stored).toHaveLength(1);
  });

  test('[D22] half a line in the file, as a crash leaves it, spoils neither itself nor the next one', async () => {
    const { ground, verify } = await openCase();
    appendFileSync(ground.data.checkpoints, '\n{"space":"sp_');
    expect(await verify()).toMatchObject({ ok: true });
    await ground.auditor.checkpointAll();
    const last = readFileSync(ground.data.checkpoints, 'utf8').trim().split('\n').at(-1) ?? '';
    expect(JSON.parse(last)).toMatchObject({ seq: LINES });
  });

  test('[D21] verifies while another process writes', async () => {
    const { ground, space } = await openCase();
    const other = await openGround(readConfig({ flags: { data: ground.data.folder }, env: {} }));
    onTestFinished(() => other.stop());
    let left = 3;
    const { session } = ground.data.store;
    // Commits of the other process arrive at the worst moments: just before and just after the head is read.
    const interrupted: Session = {
      all: (statement, params) => session.all(statement, params),
      run: (statement, params) => session.run(statement, params),
      async one(statement, params) {
        if (left > 0) await write(other, space);
        const row = await session.one(statement, params);
        if (left-- > 0) await write(other, space);
        return row;
      },
    };
    const { room, data } = ground;
    const auditor = new Auditor({
      room,
      session: interrupted,
      file: data.checkpoints,
      vault: data.vault,
    });
    expect(await auditor.verify(space)).toMatchObject({ ok: true, entries: LINES + 6, problems: [] });
  });
});

describe('what is found', () => {
  const FORGERIES: Record<string, unknown> = {
    space_id: 'sp_other',
    seq: 1000,
    at: 7,
    actor: 'person:pe_somebody',
    action: 'nothing.happened',
    subject: 'another',
    data: '{"changed":true}',
    hash: 'f'.repeat(64),
  };

  test.each(Object.entries(FORGERIES))('[D21] a changed %s, in any line', async (column, forged) => {
    const { tamper, lines, verify } = await openCase();
    for (const [at, line] of lines().entries()) {
      const original = { ...line, space_id: line.space }[column as keyof LedgerLine];
      const seq = at + 1;
      tamper(`update ledger set ${column} = ? where seq = ?`, forged, seq);
      // A last line that is moved away is a ledger that ends one line sooner.
      expectFound(await verify(), seq, ...(seq === LINES ? [seq - 1] : []));
      tamper(`update ledger set ${column} = ? where ${column} = ?`, original, forged);
    }
    expect(await verify()).toMatchObject({ ok: true });
  });

  test('[D21] any line that was deleted', async () => {
    const { tamper, lines, verify } = await openCase();
    for (const line of lines()) {
      tamper('delete from ledger where seq = ?', line.seq);
      expectFound(await verify(), line.seq, ...(line.seq === LINES ? [line.seq - 1] : []));
      tamper(
        'insert into ledger (space_id, seq, at, actor, action, subject, data, hash) values (?,?,?,?,?,?,?,?)',
        ...[line.space, line.seq, line.at, line.actor, line.action, line.subject, line.data, line.hash],
      );
    }
    expect(await verify()).toMatchObject({ ok: true });
  });

  test('[D21] two lines that changed places, with their hashes or without', async () => {
    const { tamper, verify } = await openCase();
    const swap = () => {
      tamper('update ledger set seq = case seq when 5 then -9 when 9 then -5 end where seq in (5, 9)');
      tamper('update ledger set seq = -seq where seq < 0');
    };
    swap();
    expectFound(await verify(), 5);
    swap();
    expect(await verify()).toMatchObject({ ok: true });
  });

  test('[D21] a gap that was closed by renumbering', async () => {
    const { tamper, verify } = await openCase();
    tamper('delete from ledger where seq = 15');
    tamper('update ledger set seq = -(seq - 1) where seq > 15');
    tamper('update ledger set seq = -seq where seq < 0');
    expectFound(await verify(), 15);
  });

  test.each([12, 25])(
    '[D21] a ledger that was written anew from line %s on, hashes and all',
    async (from) => {
      const { tamper, lines, verify, ground, space } = await openCase();
      tamper("update ledger set subject = 'forged' where seq = ?", from);
      const all = lines();
      let before = all[from - 2]?.hash ?? '';
      for (const line of all.slice(from - 1)) {
        before = lineHash(ground.room.vault.sha256, before, line);
        tamper('update ledger set hash = ? where seq = ?', before, line.seq);
      }
      expectFound(await verify(), ...(from <= 20 ? [20] : [LINES]));
      tamper("update heads set text = ? where space_id = ? and name = 'ledger'", before, space);
      expectFound(await verify(), ...(from <= 20 ? [20] : [LINES]));
    },
  );

  test('[D21] a line that was added behind the end', async () => {
    const { tamper, lines, verify, ground, space } = await openCase();
    const line = { seq: LINES + 1, at: 1, actor: 'x', action: 'x', subject: 'x', data: '{}' };
    const hash = lineHash(ground.room.vault.sha256, lines().at(-1)?.hash ?? '', line);
    tamper(
      'insert into ledger (space_id, seq, at, actor, action, subject, data, hash) values (?,?,1,?,?,?,?,?)',
      ...[space, line.seq, 'x', 'x', 'x', '{}', hash],
    );
    expectFound(await verify(), LINES + 1);
  });

  const CUT = 'delete from ledger where seq > 15';
  const NO_HEAD = "delete from heads where name = 'ledger'";
  const NO_CHECKPOINTS = 'delete from checkpoints';
  const SHORTER_HEAD =
    "update heads set n = 15, text = (select hash from ledger where seq = 15) where name = 'ledger'";

  test.each([
    ['nothing else', [CUT], 15],
    ['the head', [CUT, NO_HEAD], 15],
    ['a head that fits', [CUT, SHORTER_HEAD], 15],
    ['the checkpoints', [CUT, NO_CHECKPOINTS], 15],
    ['the head and the checkpoints', [CUT, NO_HEAD, NO_CHECKPOINTS], 15],
    ['a head that fits and the checkpoints', [CUT, SHORTER_HEAD, NO_CHECKPOINTS], 15],
    ['everything', ['delete from ledger', NO_HEAD, NO_CHECKPOINTS], 20],
  ])('[D21][D22] a tail that was cut off together with %s', async (_, statements, place) => {
    const { tamper, verify } = await openCase();
    for (const sql of statements) tamper(sql);
    const verdict = await verify();
    expectFound(verdict, place, 15, 10);
    expect(verdict.problems.map((p) => p.problem).join()).toMatch(/line 20 was signed|ends at line 15/);
  });

  test('[D21][D22] a tail that was cut off, with an old head that was once genuine', async () => {
    const { ground, space, tamper, verify } = await openCase();
    const db = new Database(ground.data.local?.file ?? '');
    const old = db
      .prepare("select n, at, text, seal from heads where space_id = ? and name = 'ledger'")
      .get(space);
    db.close();
    for (let i = 0; i < 5; i++) await write(ground, space);
    await ground.auditor.checkpointAll();
    const { n, at, text, seal } = old as { n: number; at: number; text: string; seal: string };
    tamper('delete from ledger where seq > ?', n);
    tamper('delete from checkpoints');
    tamper(
      "update heads set n=?, at=?, text=?, seal=? where space_id=? and name='ledger'",
      n,
      at,
      text,
      seal,
      space,
    );
    expectFound(await verify(), LINES + 5);
  });

  test('[D21][D22] an older copy that was put back, although what came since was signed at the same place', async () => {
    const { ground, space, tamper, verify } = await openCase();
    const db = new Database(ground.data.local?.file ?? '');
    onTestFinished(() => void db.close());
    const old = db.prepare("select n, at, text, seal from heads where space_id = ? and name = 'ledger'");
    const { n, at, text, seal } = old.get(space) as { n: number; at: number; text: string; seal: string };
    await write(ground, space);
    await ground.auditor.checkpointAll();
    tamper('delete from ledger where seq > ?', n);
    tamper('delete from checkpoints where seq > ?', n);
    tamper(
      "update heads set n=?, at=?, text=?, seal=? where space_id=? and name='ledger'",
      ...[n, at, text, seal, space],
    );
    ground.clock.turn(1);
    await write(ground, space);
    await ground.auditor.checkpointAll();
    expectFound(await verify(), n + 1);
  });

  test('[D21] one that was wiped together with its signatures and the file beside it, even if it has started over', async () => {
    const { ground, space, tamper, verify } = await openCase();
    for (const table of ['ledger', 'checkpoints']) tamper(`delete from ${table}`);
    tamper("delete from heads where name = 'ledger'");
    rmSync(ground.data.checkpoints);
    expectFound(await verify(), 1);
    await write(ground, space);
    expectFound(await verify(), 1);
  });

  test('[D21][D22] a space that was taken out with everything in it', async () => {
    const { ground, space, tamper } = await openCase();
    expect(await ground.auditor.spaces()).toEqual([expect.objectContaining({ id: space, handle: 'home' })]);
    for (const table of ['spaces', 'ledger', 'heads', 'checkpoints'])
      tamper(`delete from ${table} where space_id = ?`, space);
    const [gone, ...others] = await ground.auditor.spaces();
    expect(others).toEqual([]);
    expectFound(await ground.auditor.verify(gone?.id ?? ''), 20, 10);
  });

  test.each([
    ['n', 29],
    ['at', 1],
    ['text', 'f'.repeat(64)],
    ['seal', 'AAAA'],
  ])('[D22] a head with another %s', async (column, forged) => {
    const { tamper, verify } = await openCase();
    tamper(`update heads set ${column} = ? where name = 'ledger'`, forged);
    expectFound(await verify(), LINES, 29);
  });

  test.each([
    ['seq', 11],
    ['hash', 'f'.repeat(64)],
    ['at', 1],
    ['signature', Buffer.alloc(64).toString('base64')],
    ['signature', 'not even base64'],
    ['signature', ''],
  ])('[D22] a checkpoint with another %s, in the database and in the file', async (column, forged) => {
    const { ground, tamper, verify } = await openCase();
    const file = readFileSync(ground.data.checkpoints, 'utf8');
    const [first = '', ...rest] = file.trim().split('\n');
    writeFileSync(
      ground.data.checkpoints,
      [JSON.stringify({ ...JSON.parse(first), [column]: forged }), ...rest].join('\n'),
    );
    expectFound(await verify(), 10, 11);
    writeFileSync(ground.data.checkpoints, file);
    expect(await verify()).toMatchObject({ ok: true });
    tamper(`update checkpoints set ${column} = ? where seq = 10`, forged);
    expectFound(await verify(), 10, 11);
  });

  test.each(['null', '[]', '7', '"x"', '{}', '{"space":7}'])(
    '[D22] %s in the file is no checkpoint',
    async (line) => {
      const { ground, verify } = await openCase();
      appendFileSync(ground.data.checkpoints, `${line}\n`);
      expect((await verify()).entries).toBe(LINES);
    },
  );
});

describe('a new master key', () => {
  test('[W29][D85] a file whose checkpoints another replica has renewed in the database is signed a few at a time', async () => {
    const { ground, space, lines } = await openCase();
    const { room, data } = ground;
    const [old] = data.shared.masters;
    const vault = new MasterVault(Buffer.from('a new master key for tests'), [old]);
    const renewed = { room: { ...room, vault }, session: data.store.session, vault, file: data.checkpoints };
    const signed = (by: Pick<MasterVault, 'sign'>) =>
      lines().map(({ seq, hash }) => {
        const unsigned = { space, seq, hash, at: seq };
        return JSON.stringify({ ...unsigned, signature: by.sign(checkpointText(unsigned)) });
      });
    await new Auditor({ ...renewed, file: `${data.checkpoints}.of-another-replica` }).signAnew();
    const older = signed(data.vault).flatMap((line) => Array(10).fill(line));
    writeFileSync(data.checkpoints, older.join('\n'));
    let turns = 0;
    let turn = setImmediate(function count() {
      // Checkpoints go on being added.
      if (++turns === 3) appendFileSync(data.checkpoints, `\n${signed(vault)[0]}`);
      turn = setImmediate(count);
    });
    await new Auditor(renewed).signAnew();
    clearImmediate(turn);
    expect(turns).toBeGreaterThanOrEqual(older.length / 20);
    const kept = readFileSync(data.checkpoints, 'utf8').split('\n');
    expect(kept).toEqual([...signed(vault).flatMap((line) => Array(10).fill(line)), signed(vault)[0]]);
  });
});
