import { expect, it } from 'vitest';
import { addKey, revokeKeys } from '../../core/agents/keys.ts';
import { orThrow } from '../../core/faults.ts';
import { DAY } from '../../core/time.ts';
import { checked, draft, openStillWorld, openWorld, refusal, sendRaw, told } from '../../testing/wake.ts';
import type { World } from '../../testing/world.ts';

const UNKNOWN = `wk_test_${'x'.repeat(40)}`;

/** Every address of the door, as a caller with this header would meet it. */
function everywhere(world: World, headers: Record<string, string>): Promise<Response>[] {
  const json = { ...headers, 'content-type': 'application/json' };
  const post = (path: string) => fetch(world.url + path, { method: 'POST', headers: json, body: '{}' });
  return [
    post('/wake/v1/deliver'),
    post('/wake/v1/withdraw/550e8400-e29b-41d4-a716-446655440000'),
    fetch(`${world.url}/wake/v1/response/550e8400-e29b-41d4-a716-446655440000`, { headers }),
    fetch(`${world.url}/wake/v1/responses`, { headers }),
  ];
}

async function expectUnauthorized(world: World, reply: Promise<Response>): Promise<void> {
  const { status, headers, text } = await told(reply);
  expect(status).toBe(401);
  expect(headers.get('www-authenticate')).toBe('Bearer realm="wake"');
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('ratelimit-limit')).toBeNull();
  expect(JSON.parse(text)).toEqual({
    error: {
      code: 'unauthorized',
      message: expect.any(String),
      docs: `${world.url}/docs/errors#unauthorized`,
    },
  });
}

it('[W1] a missing, malformed or unknown key is 401 with the realm, at every address', async () => {
  const world = await openWorld();
  const { key } = world.agent;
  const wrong: Record<string, string>[] = [
    {},
    { authorization: '' },
    { authorization: 'Bearer' },
    { authorization: key },
    { authorization: `Basic ${Buffer.from(`agent:${key}`).toString('base64')}` },
    { authorization: `Bearer ${key} more` },
    { authorization: `Bearer "${key}"` },
    { authorization: `Bearer ${UNKNOWN}` },
    { authorization: `Bearer ${key.slice(0, -1)}` },
    { authorization: `Bearer ${key.toUpperCase()}` },
    { authorization: `Bearer ${world.token}` },
    { 'x-api-key': key },
  ];
  for (const headers of wrong) {
    for (const reply of everywhere(world, headers)) await expectUnauthorized(world, reply);
  }
});

it('[W1] a key in the address is no key', async () => {
  const world = await openWorld();
  const reply = fetch(
    `${world.url}/wake/v1/responses?access_token=${world.agent.key}&key=${world.agent.key}`,
  );
  await expectUnauthorized(world, reply);
});

it('[W1] the scheme is read without regard to case', async () => {
  const world = await openWorld();
  const headers = { authorization: `bearer ${world.agent.key}` };
  expect((await fetch(`${world.url}/wake/v1/responses`, { headers })).status).toBe(200);
});

it('[W1] who is calling is settled before the body is looked at', async () => {
  const world = await openWorld();
  const broken = world.post('/wake/v1/deliver', '{', UNKNOWN, { 'content-type': 'text/plain' });
  await expectUnauthorized(world, broken);
});

it('[W1] a revoked key is refused at once, and no other key with it', async () => {
  const world = await openWorld();
  const at = { space: world.space.id, agent: 'agent-01' };
  const second = orThrow(await addKey(world.room, { ...at, tier: 'test', rotate: false }, 'test'));
  orThrow(await revokeKeys(world.room, { ...at, keyId: world.agent.keyId }, 'test'));
  await expectUnauthorized(world, world.get('/wake/v1/responses'));
  expect((await world.get('/wake/v1/responses', second.key)).status).toBe(200);
});

it('[W1] what is no request at all is refused in the same shape', async () => {
  const world = await openWorld();
  const tooLong = refusal(world.get('/wake/v1/responses', undefined, { 'x-big': 'x'.repeat(17_000) }));
  expect(await tooLong).toEqual({
    status: 431,
    code: 'header_too_large',
    message: 'The headers may have at most 16 KiB together.',
    docs: `${world.url}/docs/errors#header_too_large`,
  });
});

it('[W1] nor is what is not HTTP answered in any other', async () => {
  const world = await openWorld();
  const reply = await sendRaw(world, ['POST /wake/v1/deliver HTTP/1.1\r\nno header\r\n\r\n']);
  const [head, body] = reply.split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\ncontent-type: application\/json; charset=utf-8/);
  expect(JSON.parse(body ?? '')).toEqual({
    error: {
      code: 'malformed_body',
      message: 'This is not well-formed HTTP.',
      docs: `${world.url}/docs/errors#malformed_body`,
    },
  });
});

it('[W1] an address whose escapes do not decode is refused in the same shape', async () => {
  const world = await openWorld();
  for (const path of ['/wake/v1/response/%ZZ', '/wake/v1/response/%ff', '/%E0%A4%A', '/wake/%']) {
    expect(await refusal(world.get(path))).toMatchObject({ status: 404, code: 'not_found' });
  }
});

it('[W1] another method is 405 and says which one works', async () => {
  const world = await openWorld();
  const reply = await world.get('/wake/v1/deliver');
  expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'POST']);
  const headers = { authorization: `Bearer ${world.agent.key}` };
  const put = await fetch(`${world.url}/wake/v1/responses`, { method: 'PUT', headers });
  expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET']);
  const options = await fetch(`${world.url}/wake/v1/deliver`, { method: 'OPTIONS', headers });
  expect([options.status, options.headers.get('allow')]).toEqual([405, 'POST']);
  const card = await fetch(`${world.url}/.well-known/wake.json`, { method: 'OPTIONS', headers });
  expect([card.status, card.headers.get('allow')]).toEqual([405, 'GET']);
});

it('[W3] the agent is the one of the key: another agent_id is 403, in the body and in the query', async () => {
  const world = await openWorld();
  const other = await world.addAgent({ id: 'agent-02' });
  const foreign = await refusal(world.post('/wake/v1/deliver', draft(world, { agent_id: 'agent-02' })));
  expect(foreign).toMatchObject({ status: 403, code: 'agent_mismatch', field: 'agent_id' });
  const nobody = await refusal(world.post('/wake/v1/deliver', draft(world, { agent_id: 'agent-99' })));
  expect(nobody).toEqual(foreign);
  const query = await refusal(world.get('/wake/v1/responses?agent_id=agent-02'));
  expect(query).toEqual(foreign);
  expect(
    (await world.post('/wake/v1/deliver', draft(world, { agent_id: 'agent-02' }), other.key)).status,
  ).toBe(201);
});

it('[W3] another agent_id is 403 as well where none is wanted: beside one answer, and at a withdrawal', async () => {
  const world = await openWorld();
  const id = await world.deliver();
  const beside = (agent: string) => world.get(`/wake/v1/response/${id}?agent_id=${agent}`);
  const withdraw = (agent_id: string) => world.post(`/wake/v1/withdraw/${id}`, { reason: 'done', agent_id });
  for (const ask of [beside, withdraw]) {
    expect(await refusal(ask('agent-02'))).toMatchObject({ status: 403, code: 'agent_mismatch' });
    expect(await refusal(ask('x'.repeat(129)))).toMatchObject({ status: 422, field: 'agent_id' });
  }
  expect(await (await beside('agent-01')).json()).toMatchObject({ status: 'pending' });
  expect((await withdraw('agent-01')).status).toBe(200);
});

it('[W3] the form of agent_id is checked before whose it is', async () => {
  const world = await openWorld();
  for (const agentId of ['x'.repeat(129), '', ' ', 7, ['agent-01'], { id: 'agent-01' }]) {
    const reply = refusal(world.post('/wake/v1/deliver', draft(world, { agent_id: agentId })));
    expect(await reply).toMatchObject({ status: 422, code: 'invalid_field', field: 'agent_id' });
  }
  const foreign = refusal(world.post('/wake/v1/deliver', draft(world, { agent_id: 'x'.repeat(128) })));
  expect(await foreign).toMatchObject({ status: 403, code: 'agent_mismatch' });
  const long = refusal(world.get(`/wake/v1/responses?agent_id=${'x'.repeat(129)}`));
  expect(await long).toMatchObject({ status: 422, field: 'agent_id' });
  expect(await refusal(world.get('/wake/v1/responses?agent_id='))).toMatchObject({ status: 422 });
});

it('[W3] two spaces may have agents of one name, and each sees only its own', async () => {
  const world = await openWorld();
  const space = await world.addSpace('elsewhere');
  const twin = await world.addAgent({ id: 'agent-01', space: space.id });
  const id = await world.deliver();
  expect((await world.get(`/wake/v1/response/${id}`, twin.key)).status).toBe(404);
  const sweep = await world.get('/wake/v1/responses', twin.key);
  expect(await sweep.json()).toMatchObject({ deliveries: [], total: 0 });
});

it('[W4] a key has its tier in front, 32 random letters and a checksum, and is nowhere in the store', async () => {
  const world = await openWorld();
  const live = await world.addAgent({ id: 'live', tier: 'live' });
  expect(world.agent.key).toMatch(/^wk_test_[0-9A-Za-z]{38}$/);
  expect(live.key).toMatch(/^wk_live_[0-9A-Za-z]{38}$/);
  const [record] = await world.room.store.read(world.space.id, (tx) => tx.keys.list('live'));
  expect(record).toMatchObject({ tier: 'live', lastFour: live.key.slice(-4) });
  expect(JSON.stringify(record)).not.toContain(live.key.slice(8, -4));
});

it('[W4] a typo is told apart from a key that nobody knows', async () => {
  const world = await openWorld();
  const { key } = world.agent;
  const typo = key.slice(0, 10) + (key[10] === 'a' ? 'b' : 'a') + key.slice(11);
  expect((await refusal(world.get('/wake/v1/responses', typo))).message).toContain('checksum');
  expect((await refusal(world.get('/wake/v1/responses', key.slice(0, 20)))).message).toContain('cut off');
  const other = await openWorld();
  expect((await refusal(world.get('/wake/v1/responses', other.agent.key))).message).not.toContain('checksum');
});

it('[W4] a key that the operator brings needs no checksum', async () => {
  const world = await openWorld();
  const key = `wk_live_${'operatorsownkey0'.repeat(2)}`;
  await world.addAgent({ id: 'brought', tier: 'live', key });
  expect((await world.get('/wake/v1/responses', key)).status).toBe(200);
});

it('[W4] several keys of one agent are one agent', async () => {
  const world = await openWorld();
  const at = { space: world.space.id, agent: 'agent-01', tier: 'live' as const, rotate: false };
  const second = orThrow(await addKey(world.room, at, 'test'));
  const id = await world.deliver();
  expect(await checked(world, id, second.key)).toMatchObject({ delivery_id: id, status: 'pending' });
});

it('[W4] a rotated key works until the overlap ends, and then is 401', async () => {
  const { world } = await openStillWorld();
  const at = { space: world.space.id, agent: 'agent-01', tier: 'test' as const, rotate: true };
  const fresh = orThrow(await addKey(world.room, at, 'test'));
  const id = await world.deliver({}, world.agent.key);
  await world.tick(DAY - 1);
  expect((await world.get('/wake/v1/responses')).status).toBe(200);
  await world.tick(1);
  await expectUnauthorized(world, world.get('/wake/v1/responses'));
  expect(await checked(world, id, fresh.key)).toMatchObject({ delivery_id: id });
});

it('[W4] a second rotation does not lengthen the life of the first key', async () => {
  const { world } = await openStillWorld();
  const at = { space: world.space.id, agent: 'agent-01', tier: 'test' as const, rotate: true };
  const second = orThrow(await addKey(world.room, at, 'test'));
  await world.tick(DAY / 2);
  const third = orThrow(await addKey(world.room, at, 'test'));
  await world.tick(DAY / 2);
  await expectUnauthorized(world, world.get('/wake/v1/responses'));
  expect((await world.get('/wake/v1/responses', second.key)).status).toBe(200);
  await world.tick(DAY / 2);
  await expectUnauthorized(world, world.get('/wake/v1/responses', second.key));
  expect((await world.get('/wake/v1/responses', third.key)).status).toBe(200);
});
