import { afterAll, beforeAll, expect, it } from 'vitest';
import { draft, refusal, swept, told } from '../../testing/wake.ts';
import { World } from '../../testing/world.ts';

const DELIVER = '/wake/v1/deliver';
// Put together here, so that no scanner takes this file for a leak.
const GITHUB = `ghp_${'a1B2c3D4e5'.repeat(3)}f6G7h8`;
const PRIVATE_KEY = [
  '-----BEGIN ',
  'PRIVATE KEY-----\n',
  'MIIEvQIBADANBgkqhkiG9w0B\n',
  '-----END PRIVATE KEY-----',
].join('');

let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.stop());

it('[W13] a credential in details is 422 with its place and kind, and its value appears nowhere', async () => {
  const details = { steps: [{ run: 'echo hi' }, { env: { TOKEN: GITHUB } }] };
  const { status, text } = await told(world.post(DELIVER, draft(world, { details })));
  const { error } = JSON.parse(text);
  expect(status).toBe(422);
  expect(error).toEqual({
    code: 'secret_in_details',
    message: expect.stringContaining('/details/steps/1/env/TOKEN'),
    field: 'details',
    docs: `${world.url}/docs/errors#secret_in_details`,
    path: '/details/steps/1/env/TOKEN',
    kind: expect.stringMatching(/github/i),
  });
  expect(text).not.toContain(GITHUB.slice(4));
  expect((await swept(world, '')).total).toBe(0);
});

it('[W13] also in plain text, in a private key and in the name of a field', async () => {
  for (const details of [`The token is ${GITHUB}.`, { pem: PRIVATE_KEY }, { env: { [GITHUB]: 1 } }]) {
    const { status, text } = await told(world.post(DELIVER, draft(world, { details })));
    expect([status, JSON.parse(text).error.code]).toEqual([422, 'secret_in_details']);
    expect(text).not.toContain(GITHUB.slice(4));
    expect(text).not.toContain('MIIEvQ');
  }
});

it.each(['/details/env/TOKEN', 'details.env.TOKEN', '$.details.env.TOKEN', '/env/TOKEN', 'env.TOKEN'])(
  '[W13] allow_secrets at %s lets it through, and the person sees the reason',
  async (path) => {
    const allow = [{ path, reason: 'A revoked token, to show the leak.' }];
    const id = await world.deliver({ details: { env: { TOKEN: GITHUB } }, allow_secrets: allow });
    const shown = await world.desk('GET', `/desk/deliveries/${id}`);
    expect(await shown.json()).toMatchObject({ allow_secrets: allow, details: { env: { TOKEN: GITHUB } } });
  },
);

it('[W13] it lets through that one place and no other', async () => {
  const details = { a: GITHUB, b: GITHUB };
  const allowed = [{ path: '/details/a', reason: 'An example.' }];
  const refused = await refusal(world.post(DELIVER, draft(world, { details, allow_secrets: allowed })));
  expect(refused).toMatchObject({ status: 422, code: 'secret_in_details', path: '/details/b' });
  const above = [{ path: '/details', reason: 'All of it.' }];
  const parent = await refusal(world.post(DELIVER, draft(world, { details, allow_secrets: above })));
  expect(parent).toMatchObject({ status: 422, path: '/details/a' });
});

it.each([
  { path: '/details/a' },
  { reason: 'x' },
  { path: '/details/a', reason: ' ' },
  { path: '/details/a', reason: null },
  { path: '/details/a', reason: 'x'.repeat(501) },
  { path: 7, reason: 'x' },
  { path: '', reason: 'x' },
])('[W13] an entry needs a path and a reason: %j is 422', async (entry) => {
  const reply = world.post(DELIVER, draft(world, { details: { a: GITHUB }, allow_secrets: [entry] }));
  expect(await refusal(reply)).toMatchObject({ status: 422, code: 'invalid_field', field: 'allow_secrets' });
});

it('[W13] words, hashes and ids that only look alike are no credentials', async () => {
  const details = {
    commit: '9fceb02d0ae598e95dc970b74767f19372d61af8',
    id: '550e8400-e29b-41d4-a716-446655440000',
    text: 'The ghp_ prefix and "BEGIN PRIVATE KEY" are what scanners look for.',
  };
  expect((await world.post(DELIVER, draft(world, { details }))).status).toBe(201);
});
