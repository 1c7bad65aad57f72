import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Desk } from '../support/desk.ts';
import { temporaryFolder } from '../support/folder.ts';
import { startReceiver } from '../support/receiver.ts';
import { Server } from '../support/server.ts';
import { given, until } from '../support/until.ts';
import { sampleDelivery } from '../support/wake.ts';

/** Each is unlike anything else, so that finding it anywhere proves where it came from. */
const CANARY = {
  agentKey: 'wk_test_CANARYkeyCANARYkeyCANARYkeyCANARY01',
  password: 'canary-password-7c1e94',
  callbackSecret: `whsec_${Buffer.from('canary callback secret 5d2f18ab').toString('base64')}`,
  master: 'canary-master-key-0b7740e1-0b7740e1',
  details: 'canary-details-93ab15',
  feedback: 'canary-feedback-e0f7c2',
  edited: 'canary-edited-44d6b9',
  reason: 'canary-withdrawal-1a8e30',
  wrongPassword: 'canary-wrong-password-6672fd',
  wrongKey: 'wk_test_CANARYbadCANARYbadCANARYbadCANARY99',
};

/** How a secret could hide: as it is, and in the usual encodings. */
function spellings(secret: string): Buffer[] {
  const bytes = Buffer.from(secret);
  // Base64 of the same text looks different at each of three offsets; the middle of each is always the same.
  const shifted = [0, 1, 2].map((skip) => {
    const text = Buffer.concat([Buffer.alloc(skip), bytes]).toString('base64');
    return Buffer.from(text.slice(Math.ceil((skip * 4) / 3) + 1, -4));
  });
  return [bytes, Buffer.from(bytes.toString('hex')), Buffer.from(secret, 'utf16le'), ...shifted];
}

function leaks(places: Record<string, Buffer>, secrets: Record<string, string>): string[] {
  return Object.entries(secrets).flatMap(([name, secret]) =>
    Object.entries(places)
      .filter(([, content]) => spellings(secret).some((spelling) => content.includes(spelling)))
      .map(([place]) => `${name} in ${place}`),
  );
}

function files(folder: string): Record<string, Buffer> {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
}

function output(servers: readonly Server[]): Record<string, Buffer> {
  return Object.fromEntries(
    servers.flatMap(({ child }, n) => [
      [`stdout ${n}`, Buffer.from(child.stdout)],
      [`stderr ${n}`, Buffer.from(child.stderr)],
    ]),
  );
}

/** Wrong in every way, with a secret in each; what comes back. */
async function provoke(url: string, key: string, desk: Desk): Promise<string[]> {
  const send = async (path: string, init: RequestInit = {}) => (await fetch(url + path, init)).text();
  const json = { 'content-type': 'application/json' };
  const agent = { authorization: `Bearer ${key}`, ...json };
  const post = (path: string, headers: Record<string, string>, body: string) =>
    send(path, { method: 'POST', headers, body });
  const broken = `{"details":"${CANARY.details}`;
  return [
    await post('/wake/v1/deliver', { authorization: `Bearer ${CANARY.wrongKey}`, ...json }, '{}'),
    await post('/wake/v1/deliver', { authorization: CANARY.wrongKey, ...json }, '{}'),
    await post('/wake/v1/deliver', agent, broken),
    await post('/wake/v1/deliver', agent, JSON.stringify(sampleDelivery({ type: CANARY.details }))),
    await post(
      '/wake/v1/deliver',
      agent,
      JSON.stringify(sampleDelivery({ details: { k: CANARY.agentKey } })),
    ),
    await post('/wake/v1/deliver', agent, JSON.stringify(sampleDelivery({ details: [CANARY.details] }))),
    await post('/wake/v1/deliver', { ...agent, 'content-type': CANARY.details }, broken),
    await send(`/wake/v1/response/${CANARY.details}?key=${key}`, { headers: agent }),
    await send(`/wake/v1/responses?since=${CANARY.details}`, { headers: agent }),
    await send(`/nowhere/${CANARY.wrongKey}`),
    await post('/desk/session', json, JSON.stringify({ email: 'a@b.de', password: CANARY.wrongPassword })),
    await post('/desk/session', json, `{"email":"a@b.de","password":"${CANARY.wrongPassword}`),
    await post('/desk/setup', json, JSON.stringify({ token: CANARY.wrongKey, email: 'x', password: 'y' })),
    await send('/desk/deliveries', { headers: { authorization: `Bearer ${key}` } }),
    await send('/desk/deliveries', { headers: { authorization: `Bearer lr_${CANARY.wrongPassword}` } }),
    await send('/desk/deliveries', { headers: { cookie: `lanternroom=${CANARY.wrongPassword}` } }),
    await send('/metrics', { headers: { authorization: `Bearer ${CANARY.wrongKey}` } }),
    (await desk.request('POST', '/desk/deliveries/none/decision', { status: CANARY.feedback })).text,
  ];
}

test('[D24] no secret and no sealed content is ever in a file, a log or an error', async () => {
  const receiver = await startReceiver((reply) => reply.writeHead(500).end());
  const env = {
    LANTERNROOM_LOG: 'debug',
    LANTERNROOM_UNDO_SECONDS: '0',
    LANTERNROOM_SECRET: CANARY.master,
    LANTERNROOM_INIT_AGENT_KEY: CANARY.agentKey,
    LANTERNROOM_INIT_PASSWORD: CANARY.password,
    LANTERNROOM_INIT_CALLBACK_SECRET: CANARY.callbackSecret,
    LANTERNROOM_INIT_CALLBACKS: receiver.origin,
  };
  const server = await Server.start({ env });
  const wake = server.wake(CANARY.agentKey);
  const desk = await Desk.login(server.url, { email: 'owner@example.com', password: CANARY.password });
  const made = await desk.request<{ token: string }>('POST', '/desk/tokens', { name: 'canary' });
  const others = await desk.request<{ key: string; callback_secret: string }>('POST', '/desk/agents', {
    agent_id: 'agent-02',
  });
  const secrets = {
    ...CANARY,
    session: given(desk.cookie.split('=')[1], 'session'),
    token: given(made.json.token, 'token'),
    otherKey: given(others.json.key, 'key'),
    otherSecret: given(others.json.callback_secret, 'secret'),
  };

  const id = await wake.delivered({
    details: { note: CANARY.details },
    callback_webhook: `${receiver.origin}/callback`,
  });
  const withdrawn = await wake.delivered();
  await wake.withdraw(withdrawn, CANARY.reason);
  await desk.decide(id, {
    status: 'redirected',
    feedback: CANARY.feedback,
    edited_content: { text: CANARY.edited },
  });
  await until('the callback', () => receiver.received.length > 0);
  await until('its attempt is on the record', async () => (await desk.detail(id)).attempts.length > 0);
  const errors = await provoke(server.url, CANARY.agentKey, desk);
  expect(errors.filter((text) => !text.includes('"error"'))).toEqual([]);
  expect(leaks({ errors: Buffer.from(errors.join('\n')) }, secrets)).toEqual([]);
  const ledger = await (await desk.open('/desk/audit/export?format=ndjson')).text();
  expect(leaks({ ledger: Buffer.from(ledger) }, secrets)).toEqual([]);
  // Both as they lie there when the power fails, and as they are left in good order.
  await server.kill();
  expect(leaks({ ...files(server.folder), ...output([server]) }, secrets)).toEqual([]);
  const again = await server.restart();
  expect((await again.wake(CANARY.agentKey).response(id)).json.feedback).toBe(CANARY.feedback);
  await again.terminate();
  expect(leaks({ ...files(server.folder), ...output([again]) }, secrets)).toEqual([]);
});

test('[D24] the search for leaks finds what is there', () => {
  const secret = CANARY.details;
  for (const skip of [0, 1, 2]) {
    const text = Buffer.from(`${'x'.repeat(skip)}${secret}xxxx`).toString('base64');
    expect(leaks({ file: Buffer.from(text) }, { secret })).toEqual(['secret in file']);
  }
  expect(leaks({ file: Buffer.from(`{"a":"${secret}"}`) }, { secret })).toEqual(['secret in file']);
  expect(leaks({ file: Buffer.from(Buffer.from(secret).toString('hex')) }, { secret })).toEqual([
    'secret in file',
  ]);
  expect(leaks({ file: Buffer.from('nothing') }, { secret })).toEqual([]);
});

test('[D24] the generated master key is readable by its owner only, and so is everything else', async () => {
  const server = await Server.start({ folder: join(temporaryFolder(), 'data') });
  await server.wake().delivered();
  await server.kill(); // so that the log of the database lies there too
  const open = [server.folder, ...readdirSync(server.folder).map((name) => join(server.folder, name))].filter(
    (path) => (statSync(path).mode & 0o077) !== 0,
  );
  expect(open).toEqual([]);
});
