import { existsSync, readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Postgres, startPostgres } from '../../../../../scripts/postgres.mjs';
import { isFault } from '../../core/faults.ts';
import { onDatabase } from '../../testing/postgres/postgres.ts';
import { aLine } from '../../testing/stores/things.ts';
import { until } from '../../testing/waiting.ts';
import { MIGRATIONS } from '../migrations.ts';
import { PostgresStore } from '../postgres.ts';
import { MasterVault } from '../vault.ts';
import { DatabaseClock } from './clock.ts';
import { Lane, Whereabouts } from './lane.ts';
import { inPostgres } from './migrate.ts';
import { openServerError } from './open.ts';

const vault = new MasterVault(Buffer.from('a master key for tests'));

let server: Postgres;
beforeAll(async () => {
  server = await startPostgres({ settings: { max_connections: '20', superuser_reserved_connections: '2' } });
});
afterAll(() => server.stop());

let made = 0;

async function database(): Promise<string> {
  const name = `trouble_${++made}`;
  await onDatabase(server.url(), `create database ${name}`);
  return server.url(name);
}

async function open(url: string): Promise<PostgresStore> {
  return PostgresStore.open({ url, sealer: vault, sealHead: vault.mac });
}

async function opened(url: string): Promise<PostgresStore> {
  const store = await open(url);
  onTestFinished(() => store.stop());
  return store;
}

const refusal = (url: string): Promise<string> =>
  open(url).then(
    async (store) => {
      await store.stop();
      return 'opened';
    },
    (reason: unknown) => openServerError(reason, url).message,
  );

/** What Linux knows of its connections. */
const CONNECTIONS = '/proc/self/net/tcp';

/** The whole process stands still, as under SIGSTOP: what arrives meanwhile is read afterwards. */
const freeze = (millis: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, millis);

const line = (seq: number) => ({ ...aLine(), seq });

test('[R7] text that PostgreSQL cannot hold is refused, and harms nothing that is written beside it', async () => {
  const store = await opened(await database());
  const write = (seq: number, actor: string) =>
    store.write('sp_1', [], (tx) => tx.ledger.insert({ ...line(seq), actor }));
  const [bad, good] = await Promise.allSettled([write(1, 'a\0b'), write(2, 'somebody')]);
  expect(bad).toMatchObject({ status: 'rejected', reason: { fault: 'invalid_field' } });
  expect(good.status).toBe('fulfilled');
  expect(await store.read('sp_1', (tx) => tx.ledger.page(0, 9))).toMatchObject([{ seq: 2 }]);
});

test('[R4] a notice that is none of ours harms nothing, and ours are heard behind it', async () => {
  const url = await database();
  const [one, two] = [await opened(url), await opened(url)];
  await until(async () => two.wakeups.hears);
  const heard = new Promise<void>((resolve) => two.signals.on('jobs', () => resolve()));
  const odd = [
    'hello',
    'null',
    '[]',
    '{"from":"x","told":[["jobs"]]}',
    '{"from":"x","told":[["jobs",7]],"ledgers":3}',
  ];
  for (const payload of odd) await onDatabase(url, `notify lanternroom, '${payload}'`);
  await one.write('sp_1', [], async (tx) => tx.announce('jobs'));
  await heard;
});

/** Stands before a database; `join` says what passes between the two sides of each connection. */
async function standBefore(url: string, join: (client: Socket, base: Socket) => void) {
  const target = new URL(url);
  const { port, hostname } = target;
  const clients = new Set<Socket>();
  const door = createServer((client) => {
    const base = connect(Number(port), hostname);
    clients.add(client);
    for (const socket of [client, base]) socket.on('error', () => {});
    client.on('close', () => base.destroy());
    base.on('close', () => client.destroy());
    join(client, base);
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of clients) socket.destroy();
    door.close();
  });
  target.port = String((door.address() as AddressInfo).port);
  return { url: target.href };
}

/**
 * Cuts a connection right after the commit of a transaction that contains `marked`: the commit's answer never arrives.
 */
async function cuttingBehind(url: string, marked: string): Promise<string> {
  const door = await standBefore(url, (client, base) => {
    let isMarked = false;
    client.on('data', (chunk: Buffer) => {
      isMarked ||= chunk.includes(marked);
      base.write(chunk);
    });
    base.on('data', (chunk: Buffer) => {
      if (!isMarked) client.write(chunk);
      else if (chunk.includes('COMMIT')) client.destroy();
    });
  });
  return door.url;
}

/** Can stop passing anything on, without telling anybody. */
async function holding(url: string) {
  let isHeld = false;
  const door = await standBefore(url, (client, base) => {
    client.on('data', (chunk: Buffer) => void (isHeld || base.write(chunk)));
    base.on('data', (chunk: Buffer) => void (isHeld || client.write(chunk)));
  });
  const hold = (now: boolean) => () => {
    isHeld = now;
  };
  return { ...door, hold: hold(true), letGo: hold(false) };
}

test('[R7] a commit whose answer was lost is not told as nothing stored', async () => {
  const url = await database();
  const store = await opened(await cuttingBehind(url, 'nobody-01'));
  const writing = store.write('sp_1', [], (tx) => tx.ledger.insert({ ...line(1), actor: 'nobody-01' }));
  await expect(writing).rejects.toMatchObject({
    fault: 'unavailable',
    message: expect.stringContaining('before it confirmed'),
  });
  expect(await onDatabase(url, 'select actor from ledger')).toEqual([{ actor: 'nobody-01' }]);
});

/** As the first version left it, with a line in its ledger. */
const FIRST_SCHEMA = [
  ...(MIGRATIONS[0] ?? []).map(inPostgres),
  'create table lanternroom_schema (version bigint not null)',
  'insert into lanternroom_schema values (1)',
  "insert into ledger values ('sp_1', 1, 1, 'a', 'b', 'c', '{}', 'hash')",
].join(';\n');

/** Somebody has read a table and not ended the transaction, as a dump does, while `work` goes on. */
async function reading<T>(url: string, table: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`begin; select 1 from ${table} limit 1`);
    return await work(client);
  } finally {
    await client.end();
  }
}

const nameOf = (url: string) => new URL(url).pathname.slice(1);

async function isAnybodyHeldUp(url: string): Promise<boolean> {
  const found = `select 1 from pg_stat_activity where datname = '${nameOf(url)}' and wait_event_type = 'Lock'`;
  return (await onDatabase(server.url(), found)).length > 0;
}

describe('the start', () => {
  test('[R1][D25] many replicas that start at once make the schema once, and all of them run', async () => {
    const url = await database();
    const stores = await Promise.all([1, 2, 3].map(() => opened(url)));
    await Promise.all(
      stores.map((store, i) => store.write('sp_1', [], (tx) => tx.ledger.insert(line(i + 1)))),
    );
    for (const store of stores)
      expect(await store.read('sp_1', (tx) => tx.ledger.page(0, 9))).toHaveLength(3);
  });

  test('[R8][D25] a schema of a newer version is refused, and left as it is', async () => {
    const url = await database();
    await (await open(url)).stop();
    await onDatabase(url, `update lanternroom_schema set version = ${MIGRATIONS.length + 1}`);
    expect(await refusal(url)).toMatch(/newer Lanternroom .* Start the newer version/);
    expect(await onDatabase(url, 'select version from lanternroom_schema')).toEqual([
      { version: MIGRATIONS.length + 1 },
    ]);
  });

  test('[D25] an earlier schema is brought forward, with its data', async () => {
    const url = await database();
    await onDatabase(url, FIRST_SCHEMA);
    const store = await opened(url);
    expect(await store.read('sp_1', (tx) => tx.ledger.page(0, 9))).toMatchObject([{ hash: 'hash' }]);
    expect(await onDatabase(url, 'select version from lanternroom_schema')).toEqual([
      { version: MIGRATIONS.length },
    ]);
  });

  test('[D25] bringing it forward takes as long as it takes, whatever limits there are for other statements', async () => {
    const url = await database();
    await onDatabase(url, FIRST_SCHEMA);
    const name = nameOf(url);
    for (const limit of ['statement_timeout', 'lock_timeout', 'transaction_timeout'])
      await onDatabase(server.url(), `alter database ${name} set ${limit} = '2s'`);
    // Somebody sits on a table for longer than we wait for any other answer.
    const held = onDatabase(
      url,
      'begin; set local statement_timeout = 0; set local transaction_timeout = 0; lock table deliveries; select pg_sleep(22); commit',
    );
    const sits = `select 1 from pg_stat_activity where datname = '${name}' and wait_event = 'PgSleep'`;
    await until(async () => (await onDatabase(server.url(), sits)).length === 1);
    await opened(url);
    await held;
    expect(await onDatabase(url, 'select version from lanternroom_schema')).toEqual([
      { version: MIGRATIONS.length },
    ]);
  });

  test('[R7][D25] while bringing it forward waits for somebody who reads for long, the older replicas go on', async () => {
    const url = await database();
    await onDatabase(url, FIRST_SCHEMA);
    const { opening } = await reading(url, 'deliveries', async () => {
      const opening = opened(url);
      await until(() => isAnybodyHeldUp(url));
      await onDatabase(url, "set lock_timeout = '8s'; select count(*) from deliveries");
      return { opening };
    });
    await opening;
    expect(await onDatabase(url, 'select version from lanternroom_schema')).toEqual([
      { version: MIGRATIONS.length },
    ]);
  });

  test('[R7][D25] a deadlock with an older replica puts bringing it forward off, and does not end the start', async () => {
    const url = await database();
    await onDatabase(url, FIRST_SCHEMA);
    // Whoever notices it gives way: the older replica is patient here.
    await onDatabase(server.url(), `alter database ${nameOf(url)} set deadlock_timeout = '100ms'`);
    const { opening } = await reading(url, 'agents', async (older) => {
      await older.query("set deadlock_timeout = '1min'");
      const opening = opened(url); // it has the people, and waits for the agents
      await until(() => isAnybodyHeldUp(url));
      await older.query('select count(*) from people');
      return { opening };
    });
    await opening;
    expect(await onDatabase(url, 'select version from lanternroom_schema')).toEqual([
      { version: MIGRATIONS.length },
    ]);
  });

  test('[R7][D25] a replica that runs starts its second thread also when a newer version has brought the schema forward', async () => {
    const url = await database();
    await opened(url);
    await onDatabase(url, `update lanternroom_schema set version = ${MIGRATIONS.length + 1}`);
    const second = await PostgresStore.open({ url, sealer: vault, sealHead: vault.mac, isSecond: true });
    onTestFinished(() => second.stop());
    await second.write('sp_1', [], (tx) => tx.ledger.insert(line(1)));
  });

  test("[R8][D25] another program's tables are refused", async () => {
    const url = await database();
    await onDatabase(url, 'create table heads (name text)');
    expect(await refusal(url)).toMatch(/tables of another program/);
    expect(await onDatabase(url, "select to_regclass('ledger') as there")).toEqual([{ there: null }]);
  });

  test('[R8] a database that cannot hold every character is refused before a table is made', async () => {
    const name = `trouble_${++made}`;
    const latin = "encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0";
    await onDatabase(server.url(), `create database ${name} ${latin}`);
    expect(await refusal(server.url(name))).toMatch(/LATIN1, .*createdb --encoding=UTF8/);
    expect(await onDatabase(server.url(name), "select to_regclass('ledger') as there")).toEqual([
      { there: null },
    ]);
  });

  test('[R8][D25] a database that takes no writes is refused', async () => {
    const url = await database();
    const name = nameOf(url);
    await onDatabase(server.url(), `alter database ${name} set default_transaction_read_only = on`);
    expect(await refusal(url)).toMatch(/takes no writes: it is a standby.*Point DATABASE_URL at the primary/);
  });

  test('[R8] of several hosts the one that takes writes is used', async () => {
    const url = await database();
    const both = url.replace('127.0.0.1', `127.0.0.1:1,127.0.0.1`);
    const store = await opened(both);
    await store.write('sp_1', [], (tx) => tx.ledger.insert(line(1)));
  });

  test('[R8][D25] a wrong name, host or user is reported in one sentence, without the password', async () => {
    const missing = server.url('nowhere').replace('lanternroom@', 'lanternroom:hush@');
    expect(await refusal(missing)).toMatch(/There is no database at postgres:\/\/127.*createdb/);
    const nobody = missing.replace(String(server.port), '1');
    expect(await refusal(nobody)).toMatch(/does not answer .*ECONNREFUSED.*Check DATABASE_URL/);
    for (const url of [missing, nobody]) expect(await refusal(url)).not.toContain('hush');
    const stranger = server.url().replace('lanternroom@', 'stranger@');
    expect(await refusal(stranger)).toMatch(/does not let us in .*stranger/);
  });
});

describe('the address', () => {
  const at = (rest: string) => server.url().replace('lanternroom@', rest);

  test('[R8] one that cannot be read is refused with what is meant, and shows nothing of the password', async () => {
    for (const secret of ['hu/sh', 'hu#sh', 'hu?sh']) {
      const said = await refusal(at(`lanternroom:${secret}@`));
      expect(said).toMatch(/cannot be read\. .*postgres:\/\/user:password@.* \/ as %2F/);
      expect(said).not.toContain('sh@');
    }
    expect(await refusal(server.url().replace(String(server.port), '543200'))).toMatch(/cannot be read/);
  });

  test('[R8] an @ in the password is not taken for its end', async () => {
    const said = await refusal(at('stranger:hu@sh@'));
    expect(said).toMatch(/PostgreSQL at postgres:\/\/127\.0\.0\.1:.* does not let us in/);
    const both = server.url('nowhere').replace('lanternroom@', 'lanternroom:hu@sh@127.0.0.1:1,');
    expect(await refusal(both)).toMatch(/There is no database at postgres:\/\/127/);
  });

  test('[R8] a server without TLS is named as such, and no library warns about modes', async () => {
    const warnings: string[] = [];
    const hear = (warning: Error) => warnings.push(warning.message);
    process.on('warning', hear);
    onTestFinished(() => void process.off('warning', hear));
    const said = await refusal(`${server.url()}?sslmode=require`);
    expect(said).toMatch(/PostgreSQL at postgres:\/\/127.* does not speak TLS .* leave "sslmode" out of/);
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
  });

  test('[R8] a certificate that is not there, or cannot be read, is refused with the way out', async () => {
    for (const name of ['sslrootcert', 'sslcert', 'sslkey'])
      expect(await refusal(`${server.url()}?${name}=/nowhere/file.pem`)).toMatch(
        /^A file that DATABASE_URL names, .* cannot be read \(ENOENT.*\/nowhere\/file\.pem'\)\. Check its path/,
      );
    expect(await refusal(`${server.url()}?sslrootcert=/`)).toMatch(/cannot be read \(EISDIR/);
    const socket = 'postgres://lanternroom@/none?host=/nowhere';
    expect(await refusal(socket)).toMatch(/does not answer \(connect ENOENT/);
  });

  test('[R8] a certificate that nobody vouches for is refused with the way out', () => {
    const reason = Object.assign(new Error('self-signed certificate'), {
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    });
    expect(openServerError(reason, 'postgres://u:hush@db/name?sslmode=require').message).toMatch(
      /^The certificate of PostgreSQL at postgres:\/\/db\/name is not trusted \(self-signed certificate\)\. .*sslrootcert=FILE/,
    );
  });
});

describe('while it runs', () => {
  test('[R7][D26] a database that is gone fails at once and says when to retry; it comes back by itself', async () => {
    const store = await opened(await database());
    await store.write('sp_1', [], (tx) => tx.ledger.insert(line(1)));
    await server.halt('immediate');
    const outcomes = await Promise.all(
      [
        store.write('sp_1', [], (tx) => tx.ledger.insert(line(2))),
        store.read('sp_1', (tx) => tx.ledger.page(0, 9)),
        store.directory.spaces(),
      ].map((work) => work.then(() => null).catch((reason: unknown) => reason)),
    );
    for (const reason of outcomes)
      expect(isFault(reason) && [reason.fault, reason.detail.retryAfter]).toEqual(['unavailable', 2]);
    await server.start();
    await until(() =>
      store
        .write('sp_1', [], (tx) => tx.ledger.insert(line(3)))
        .then(() => true)
        .catch(() => false),
    );
    const kept = await store.read('sp_1', (tx) => tx.ledger.page(0, 9));
    expect(kept.map((one) => one.seq)).toEqual([1, 3]);
  });

  test('[R7] a database that hangs is given up once a probe gets no answer either, not when a statement has taken too long', async () => {
    const held = await holding(await database());
    const where = new Whereabouts(held.url, () => {});
    const [asked, idle] = [new Lane(where), new Lane(where)];
    onTestFinished(async () => {
      where.stop();
      await Promise.all([asked.close(), idle.close()]);
    });
    const link = await asked.get();
    await idle.get();
    held.hold();
    await expect(link.exec('select 1')).rejects.toThrow('Connection terminated');
    // A request that comes now fails at once, even on a lane where nobody was waiting.
    for (const lane of [asked, idle])
      await expect(lane.get()).rejects.toMatchObject({ fault: 'unavailable' });
    held.letGo();
    await until(() =>
      asked.get().then(
        () => true,
        () => false,
      ),
    );
  });

  test('[D26] a batch that was cut off leaves nothing behind', async () => {
    const url = await database();
    const store = await opened(url);
    const cut = store.write('sp_1', ['ledger'], async (tx) => {
      await tx.heads.get('ledger');
      tx.heads.set('ledger', { n: 1, at: 1, text: 'x' });
      await tx.ledger.insert(line(1));
      await tx.ledger.page(0, 1);
      await onDatabase(
        url,
        'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
      );
      await tx.ledger.page(0, 2);
    });
    await expect(cut).rejects.toMatchObject({ fault: 'unavailable' });
    await until(() =>
      store.directory
        .spaces()
        .then(() => true)
        .catch(() => false),
    );
    expect(await store.read('sp_1', (tx) => tx.ledger.page(0, 9))).toEqual([]);
    expect(await store.read('sp_1', (tx) => tx.heads.get('ledger'))).toBeNull();
  });

  test('[R7] when there are no connections left, it says so and recovers', async () => {
    const url = await database();
    const name = nameOf(url);
    await onDatabase(url, 'create role small login');
    const owner = await open(url);
    await owner.stop();
    await onDatabase(url, 'grant all on all tables in schema public to small');
    const limited = url.replace('lanternroom@', 'small@');
    const store = await opened(limited);
    await onDatabase(server.url(), `alter role small connection limit 0`);
    await onDatabase(
      server.url(),
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'small' and datname = '${name}'`,
    );
    const tries = await Promise.all(
      Array.from({ length: 6 }, () =>
        store
          .read('sp_1', (tx) => tx.ledger.page(0, 1))
          .then(() => null)
          .catch((reason: unknown) => reason),
      ),
    );
    for (const reason of tries)
      expect(reason).toMatchObject({
        fault: 'unavailable',
        message: expect.stringContaining('no connection left'),
        detail: { cause: { code: '53300' } },
      });
    await onDatabase(server.url(), 'alter role small connection limit -1');
    await until(() =>
      store
        .read('sp_1', (tx) => tx.ledger.page(0, 1))
        .then(() => true)
        .catch(() => false),
    );
  });

  test('[R7][D33] it is known to be away when it takes no more connections, though an old one still answers', async () => {
    const url = await database();
    await onDatabase(url, 'create role late login');
    await (await open(url)).stop();
    await onDatabase(url, 'grant all on all tables in schema public to late');
    const store = await opened(url.replace('lanternroom@', 'late@'));
    expect(store.isAway).toBe(false);
    await onDatabase(server.url(), 'alter role late connection limit 0');
    await expect(store.write('sp_1', [], (tx) => tx.ledger.insert(line(1)))).rejects.toMatchObject({
      fault: 'unavailable',
    });
    await until(async () => store.isAway);
    expect(await store.directory.spaces()).toEqual([]);
    await onDatabase(server.url(), 'alter role late connection limit -1');
    await until(async () => !store.isAway);
  });

  test('[R6][R7] one that froze in a transaction has lost the database, and finds it again', async () => {
    const url = await database();
    const name = nameOf(url);
    const store = await opened(url);
    // The server ends those that stand still for five seconds in the same way, but for one letter of its code.
    await onDatabase(server.url(), `alter database ${name} set transaction_timeout = '200ms'`);
    const frozen = store.write('sp_1', [], async (tx) => {
      await tx.ledger.page(0, 1);
      freeze(1_000);
      await tx.ledger.page(0, 2);
    });
    await expect(frozen).rejects.toMatchObject({ fault: 'unavailable', detail: { retryAfter: 2 } });
    await until(() =>
      store
        .write('sp_1', [], (tx) => tx.ledger.insert(line(1)))
        .then(() => true)
        .catch(() => false),
    );
  });

  test.skipIf(!existsSync(CONNECTIONS))(
    '[R7] a connection that rests says so before anything in between forgets it',
    async () => {
      const where = new Whereabouts(await database(), () => {});
      const lane = new Lane(where);
      onTestFinished(() => lane.close());
      const { client } = await lane.get();
      const { localPort } = (client as unknown as { connection: { stream: Socket } }).connection.stream;
      const port = `:${Number(localPort).toString(16).toUpperCase().padStart(4, '0')}`;
      const own = readFileSync(CONNECTIONS, 'utf8')
        .split('\n')
        .map((row) => row.trim().split(/\s+/))
        .find(([, local]) => local?.endsWith(port));
      // Which timer it is (2 is that of keep-alive), and hundredths of a second until it ends.
      const [timer = '', left = ''] = own?.[5]?.split(':') ?? [];
      expect(Number(timer)).toBe(2);
      expect(Number.parseInt(left, 16) / 100).toBeLessThanOrEqual(60);
    },
  );

  test('[R7] whoever is not let in any more is without the database, and the operator is told why', async () => {
    const url = await database();
    await (await open(url)).stop();
    const role = `shut_out_${made}`;
    await onDatabase(url, `create role ${role} login; grant all on all tables in schema public to ${role}`);
    const store = await opened(url.replace('lanternroom@', `${role}@`));
    const end = `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`;
    await onDatabase(url, `alter role ${role} nologin`);
    await onDatabase(url, end);
    const works = [
      () => store.read('sp_1', (tx) => tx.ledger.page(0, 1)),
      () => store.write('sp_1', [], (tx) => tx.ledger.insert(line(1))),
      () => store.directory.spaces(),
    ];
    const told = await Promise.all(works.map((work) => work().catch((reason: unknown) => reason)));
    for (const reason of told)
      expect(reason).toMatchObject({ fault: 'unavailable', detail: { retryAfter: 2 } });
    expect(told.map((reason) => isFault(reason) && String(reason.detail.cause))).toContainEqual(
      expect.stringContaining('not permitted to log in'),
    );
    await onDatabase(url, `alter role ${role} login`);
    await until(() =>
      store
        .write('sp_1', [], (tx) => tx.ledger.insert(line(1)))
        .then(() => true)
        .catch(() => false),
    );
  });

  test.each([
    ['53100', 'storage_full'],
    ['58030', 'unavailable'],
  ])(
    '[R7][D25] a disk that fails with %s is told as %s, also by the very last statement of a batch',
    async (code, fault) => {
      const url = await database();
      const store = await opened(url);
      await onDatabase(
        url,
        `create function fail() returns trigger language plpgsql as $$ begin raise 'no' using errcode = '${code}'; end $$;
      create trigger fail before insert on heads for each row when (new.name = 'identities') execute function fail()`,
      );
      const writing = store.write('sp_1', [], (tx) => tx.keys.revoke('ke_1', 1));
      await expect(writing).rejects.toMatchObject({ fault, detail: { cause: { code } } });
    },
  );

  test('[R7] a statement that takes too long is ended by the server, and the next one works', async () => {
    const url = await database();
    const store = await opened(url);
    await store.write('sp_1', ['ledger'], async (tx) => {
      await tx.heads.get('ledger');
      tx.heads.set('ledger', { n: 1, at: 1, text: 'x' });
    });
    const name = nameOf(url);
    // Somebody sits on the row for ever; the lock's own limit is what ends the wait.
    const hold = onDatabase(url, 'begin; select * from heads for update; select pg_sleep(60)').catch(
      () => {},
    );
    const locks = `select count(*) as n from pg_stat_activity where datname = '${name}' and wait_event = 'PgSleep'`;
    await until(async () => Number((await onDatabase(server.url(), locks))[0]?.n) === 1);
    const blocked = store.write('sp_1', ['ledger'], (tx) => tx.heads.get('ledger'));
    await expect(blocked).rejects.toMatchObject({ fault: 'unavailable', detail: { retryAfter: 2 } });
    await onDatabase(
      server.url(),
      `select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep(60)%' and pid <> pg_backend_pid()`,
    );
    await hold;
    expect(await store.write('sp_1', ['ledger'], (tx) => tx.heads.get('ledger'))).toMatchObject({ n: 1 });
  });

  test('[R2][D26] two replicas that lock the same heads in opposite order never wait in a circle', async () => {
    const url = await database();
    const [one, two] = await Promise.all([opened(url), opened(url)]);
    const names = ['agent:a', 'agent:b', 'agent:c'] as const;
    const count = (store: PostgresStore, order: readonly (typeof names)[number][]) =>
      store.write('sp_1', order, async (tx) => {
        for (const name of order) {
          const n = ((await tx.heads.get(name))?.n ?? 0) + 1;
          tx.heads.set(name, { n, at: n, text: '' });
        }
      });
    for (let round = 0; round < 20; round++) {
      await Promise.all([count(one, names), count(two, [...names].reverse()), count(two, names)]);
    }
    expect(await one.read('sp_1', (tx) => tx.heads.get('agent:b'))).toMatchObject({ n: 60 });
  });
});

describe('the time', () => {
  test('[R5][D28] is the database’s, whatever the own clock says, and goes on between two looks', () => {
    let here = 5_000;
    const clock = new DatabaseClock(() => here);
    clock.heard({ database: 1_000_000_000, here: 5_000, error: 2 });
    here = 5_010;
    expect(clock.now()).toBe(1_000_010_000);
    clock.heard({ database: 1_000_055_000, here: 5_010, error: 50 });
    expect(clock.now()).toBe(1_000_010_000);
    clock.heard({ database: 1_000_010_500, here: 5_010, error: 1 });
    expect(clock.now()).toBe(1_000_010_500);
  });

  test('[R5][D28] is followed at once when it jumps, however far that answer travelled', () => {
    const clock = new DatabaseClock(() => 5_000);
    clock.heard({ database: 1_000_000_000, here: 5_000, error: 1 });
    clock.heard({ database: 2_000_000_000, here: 5_000, error: 40 });
    expect(clock.now()).toBe(2_000_000_000);
    clock.heard({ database: 1_000_000_000, here: 5_000, error: 60 });
    expect(clock.now()).toBe(1_000_000_000);
  });

  test('[R5][D28] two replicas agree on it to within a few milliseconds', async () => {
    const url = await database();
    const [one, two] = await Promise.all([opened(url), opened(url)]);
    // A busy machine may take longer than that to bring the answer; each asks again until one came quickly.
    await until(async () => Math.abs(one.clock.now() - two.clock.now()) < 50_000);
  });
});
