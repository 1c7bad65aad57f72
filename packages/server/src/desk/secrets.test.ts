import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openSetup } from '../core/people/membership/setup.ts';
import { SECOND } from '../core/time.ts';
import { Browser } from '../testing/desk/browser.ts';
import { body, openDesk } from '../testing/desk/desk.ts';
import { captureLogText } from '../testing/log.ts';
import { httpReceiver, signal } from '../testing/network/receivers.ts';
import type { World } from '../testing/world.ts';

function filesUnder(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesUnder(path) : [path];
  });
}

/** Where a text occurs in what is stored: plain, in hex, in base64, or in another encoding. */
async function whereIs(world: World, canary: string): Promise<string[]> {
  const forms = [
    Buffer.from(canary),
    Buffer.from(Buffer.from(canary).toString('hex')),
    Buffer.from(Buffer.from(canary).toString('base64').replace(/=+$/, '')),
    Buffer.from(canary, 'utf16le'),
    Buffer.from(encodeURIComponent(canary)),
  ];
  const kept = [
    ...filesUnder(world.folder).map((path): [string, Buffer] => [path, readFileSync(path)]),
    ...(await rowsOf(world)),
  ];
  return kept.filter(([, bytes]) => forms.some((form) => bytes.includes(form))).map(([name]) => name);
}

/** The rows of every table, where they are not in a file of the folder. */
async function rowsOf(world: World): Promise<[string, Buffer][]> {
  if (world.database === null) return [];
  const tables = await world.sql("select tablename as name from pg_tables where schemaname = 'public'");
  const rows = async (name: unknown): Promise<[string, Buffer]> => {
    const values = (await world.sql(`select * from "${name}"`)).flatMap((row) => Object.values(row));
    const bytes = values.map((value) => (value instanceof Uint8Array ? value : Buffer.from(String(value))));
    return [String(name), Buffer.concat(bytes.flatMap((one) => [one, Buffer.from('\n')]))];
  };
  return Promise.all(tables.map(({ name }) => rows(name)));
}

/** A word that occurs nowhere else. */
let count = 0;
const canary = (name: string) => `Canary${name}${process.pid}x${count++}x${'Zq7'.repeat(4)}`;

type Planted = Record<string, string>;

/** Plants a canary in every place where a secret can be, and lets it live its whole life. */
async function plant(world: World): Promise<Planted> {
  const password = canary('Password');
  const [details, feedback, edited] = [canary('Details'), canary('Feedback'), canary('Edited')];
  const [wrong, reason, draft] = [canary('Wrong'), canary('Reason'), canary('Draft')];
  await body(world.desk('POST', '/desk/people', { email: 'canary@example.com', role: 'owner', password }));
  const browser = new Browser(world);
  await browser.login('canary@example.com', password);
  await browser.login('canary@example.com', wrong);
  const session = browser.cookies.get('lanternroom') ?? '';
  const { token } = await body<{ token: string }>(browser.send('POST', '/desk/tokens', { name: 'x' }));
  const { token: setup } = await openSetup(world.room);
  const got = signal();
  const receiver = await httpReceiver((_, response) => {
    response.end();
    got.fire();
  });
  const origin = `http://127.0.0.1:${receiver.port}`;
  const made = await body<{ key: string; callback_secret: string }>(
    browser.send('POST', '/desk/agents', { agent_id: 'canary', callbacks: [origin] }),
  );
  const rotated = await body<{ callback_secret: string }>(
    browser.send('POST', '/desk/agents/canary/callback-secret'),
  );
  const path = canary('Path');
  const id = await world.deliver(
    { agent_id: 'canary', details: { text: details }, callback_webhook: `${origin}/${path}` },
    made.key,
  );
  await browser.send('PUT', `/desk/deliveries/${id}/draft`, { feedback: draft, mode: 'rejected' });
  await body(world.decide(id, { status: 'redirected', feedback, edited_content: { text: edited } }));
  await world.tick(10 * SECOND);
  await got.seen;
  const withdrawn = await world.deliver({ agent_id: 'canary' }, made.key);
  await body(world.post(`/wake/v1/withdraw/${withdrawn}`, { reason }, made.key));
  return {
    password,
    wrong,
    session,
    token,
    setup,
    key: made.key,
    'callback secret': made.callback_secret,
    'rotated secret': rotated.callback_secret,
    'callback path': path,
    details,
    feedback,
    edited,
    draft,
    reason,
  };
}

describe('secrets', () => {
  test('[D24] stand nowhere in the data folder, whole or without their prefix', async () => {
    const { world } = await openDesk();
    const planted = await plant(world);
    for (const [name, secret] of Object.entries(planted)) {
      expect([name, await whereIs(world, secret)]).toEqual([name, []]);
      const bare = secret.replace(/^(wk_test_|whsec_|lr_|st_)/, '');
      expect([name, await whereIs(world, bare)]).toEqual([name, []]);
    }
    expect(await whereIs(world, 'canary@example.com')).not.toEqual([]);
  });

  test('[D24] stand nowhere after a stop either, when everything is in the database file', async () => {
    const { world } = await openDesk();
    const planted = await plant(world);
    await world.restart();
    for (const [name, secret] of Object.entries(planted))
      expect([name, await whereIs(world, secret)]).toEqual([name, []]);
  });

  test('[D24] are in no log, whatever goes wrong', async () => {
    const log = captureLogText();
    const { world } = await openDesk({ env: { LANTERNROOM_LOG: 'debug' } });
    const planted = await plant(world);
    const secrets = Object.values(planted);
    for (const secret of secrets) {
      await world.desk('GET', `/desk/deliveries/${encodeURIComponent(secret)}`);
      await world.desk('GET', '/desk/session', undefined, secret.replace(/[^A-Za-z0-9._~+/-]/g, ''));
      await world.get(`/wake/v1/response/${encodeURIComponent(secret)}`, secret);
      await world.post('/wake/v1/deliver', `{"broken": "${secret}`, world.agent.key);
      await fetch(`${world.url}/desk/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', cookie: `lanternroom=${secret}` },
        body: JSON.stringify({ email: 7, password: secret }),
      });
    }
    // Something that nobody foresaw: the bytes of a delivery do not open any more.
    await world.sql('update deliveries set body = ?', Buffer.from([0]));
    const { deliveries } = await body<{ deliveries: { delivery_id: string }[] }>(
      world.desk('GET', '/desk/deliveries?section=earlier'),
    );
    const broken = await world.desk('GET', `/desk/deliveries/${deliveries[0]?.delivery_id}`);
    expect(broken.status).toBe(500);
    expect(log()).toContain('unexpected error');
    for (const [name, secret] of Object.entries(planted))
      expect([name, log().includes(secret)]).toEqual([name, false]);
  });

  test('[D24] are in no error that is sent', async () => {
    const { world } = await openDesk();
    const secret = canary('Sent');
    const asks = [
      world.desk('POST', '/desk/session', { email: `${secret}@example.com`, password: secret }),
      world.desk('GET', '/desk/session', undefined, `lr_${secret}`),
      world.post('/wake/v1/deliver', `{"details": "${secret}`, world.agent.key),
      world.get('/wake/v1/responses', `wk_test_${secret}`),
      world.desk('POST', '/desk/people', {
        email: 'x@example.com',
        role: 'owner',
        password: secret.slice(0, 5),
      }),
      world.desk('POST', '/desk/setup', { token: secret, email: 'x@example.com', password: secret }),
    ];
    for (const ask of asks) {
      const reply = await ask;
      expect(reply.ok).toBe(false);
      expect(await reply.text()).not.toContain(secret.slice(0, 5) === secret ? secret : secret.slice(0, 12));
    }
  });

  test('[D24] sealed bytes open in their own row only', async () => {
    const { world } = await openDesk();
    const [one, two] = [
      await world.deliver({ details: { a: 1 } }),
      await world.deliver({ details: { a: 2 } }),
    ];
    await world.sql(
      'update deliveries set body = (select body from deliveries where delivery_id = ?) where delivery_id = ?',
      one,
      two,
    );
    expect((await world.desk('GET', `/desk/deliveries/${one}`)).status).toBe(200);
    const moved = await world.desk('GET', `/desk/deliveries/${two}`);
    expect(moved.status).toBe(503); // as any other damage (D81)
    expect(await moved.json()).toMatchObject({
      error: { code: 'unavailable', message: expect.not.stringContaining('seal') },
    });
  });
});
