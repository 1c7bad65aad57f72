import { describe, expect, test } from 'vitest';
import { SECOND, toIso } from '../../core/time.ts';
import { AT_ONCE, body, openDesk, refused, status } from '../../testing/desk/desk.ts';
import type { World } from '../../testing/world.ts';

type Won = { decided_by: { person_id: string } };
type Lost = { error: Won & { decided_at: string } };

const poll = (world: World, id: string) => body(world.get(`/wake/v1/response/${id}`));
const undo = (world: World, id: string) => world.desk('DELETE', `/desk/deliveries/${id}/decision`);

async function hashOf(world: World, id: string): Promise<string> {
  return (await body<{ content_sha256: string }>(world.desk('GET', `/desk/deliveries/${id}`))).content_sha256;
}

describe('deciding', () => {
  test.each(['approved', 'rejected', 'redirected'])('[D11] %s is held, then decided', async (verdict) => {
    const { world, clock } = await openDesk();
    const id = await world.deliver();
    const reply = await body(world.decide(id, { status: verdict }));
    expect(reply).toMatchObject({
      delivery_id: id,
      state: 'held',
      status: 'pending',
      effect_at: toIso(clock.now() + 10 * SECOND),
      decided_by: { person_id: world.owner.id, name: 'Olga Owner' },
    });
    await world.tick(10 * SECOND);
    expect(await poll(world, id)).toMatchObject({ status: verdict, feedback: null, edited_content: null });
  });

  test('[D11] without an undo window it takes effect at once', async () => {
    const { world } = await openDesk({ env: AT_ONCE });
    const id = await world.deliver();
    expect(await body(world.decide(id, { status: 'approved' }))).toMatchObject({
      state: 'decided',
      status: 'approved',
    });
    expect(await poll(world, id)).toMatchObject({ status: 'approved' });
  });

  test('[D11] the hash may be written in capitals', async () => {
    const { world } = await openDesk();
    const id = await world.deliver();
    const content_sha256 = (await hashOf(world, id)).toUpperCase();
    expect((await world.decide(id, { status: 'approved', content_sha256 })).status).toBe(200);
  });

  test.each([
    ['no hash', { content_sha256: undefined }, 'content_sha256'],
    ['an empty hash', { content_sha256: '' }, 'content_sha256'],
    ['a number for a hash', { content_sha256: 7 }, 'content_sha256'],
    ['no status', { status: undefined }, 'status'],
    ['another status', { status: 'pending' }, 'status'],
    ['a list as edited content', { edited_content: [1] }, 'edited_content'],
    ['a number as edited content', { edited_content: 1 }, 'edited_content'],
    ['a number as feedback', { feedback: 1 }, 'feedback'],
    ['too much feedback', { feedback: 'x'.repeat(20_001) }, 'feedback'],
  ])('[D11] %s is refused, and nothing is decided', async (_, over, field) => {
    const { world } = await openDesk({ env: AT_ONCE });
    const id = await world.deliver();
    const reply = world.decide(id, { status: 'approved', ...over });
    expect(await refused(reply)).toEqual({ status: 422, code: 'invalid_field', field });
    expect(await poll(world, id)).toMatchObject({ status: 'pending' });
  });

  test.each(['f'.repeat(64), 'abc'])(
    '[D11] another hash is 409 content_changed, with the one that is right: %s',
    async (hash) => {
      const { world } = await openDesk();
      const id = await world.deliver();
      const reply = await world.decide(id, { status: 'approved', content_sha256: hash });
      expect(reply.status).toBe(409);
      expect(await reply.json()).toMatchObject({
        error: { code: 'content_changed', content_sha256: await hashOf(world, id) },
      });
    },
  );

  test('[D11] what was withdrawn or superseded cannot be decided', async () => {
    const { world } = await openDesk();
    const [withdrawn, old] = [await world.deliver(), await world.deliver()];
    await body(world.post(`/wake/v1/withdraw/${withdrawn}`, { reason: 'no longer needed' }));
    const revised = await world.deliver({ revises: old });
    expect(await refused(world.decide(withdrawn, { status: 'approved' }))).toEqual({
      status: 409,
      code: 'withdrawn',
    });
    const reply = await world.decide(old, { status: 'approved' });
    expect(reply.status).toBe(409);
    expect(await reply.json()).toMatchObject({ error: { code: 'superseded', superseded_by: revised } });
  });

  test.each([
    ['held', {}, 'already_held'],
    ['decided', AT_ONCE, 'already_decided'],
  ])('[D11] what is %s already is 409, with who and when', async (_, env, code) => {
    const { world, clock } = await openDesk({ env });
    const id = await world.deliver();
    await world.decide(id, { status: 'approved' });
    const at = toIso(clock.now());
    clock.turn(SECOND);
    const reply = await world.decide(id, { status: 'rejected' });
    expect(reply.status).toBe(409);
    expect(await reply.json()).toMatchObject({
      error: {
        code,
        status: 'approved',
        decided_by: { person_id: world.owner.id, name: 'Olga Owner' },
        decided_at: at,
      },
    });
  });

  test.each([{}, AT_ONCE])(
    '[D12] of two people at once one wins, and the other is told who (%j)',
    async (env) => {
      const { world } = await openDesk({ env });
      const { token: other, person } = await world.addPerson('second@example.com', 'decider');
      for (let round = 0; round < 5; round++) {
        const id = await world.deliver();
        const content_sha256 = await hashOf(world, id);
        const decide = (token: string, verdict: string) =>
          world.desk('POST', `/desk/deliveries/${id}/decision`, { status: verdict, content_sha256 }, token);
        const replies = await Promise.all([decide(world.token, 'approved'), decide(other, 'rejected')]);
        expect(replies.map((reply) => reply.status).sort()).toEqual([200, 409]);
        const bodies = await Promise.all(replies.map((reply) => reply.json()));
        const said = Object.assign({}, ...bodies) as Won & Lost;
        expect(said.error.decided_by).toEqual(said.decided_by);
        expect([world.owner.id, person.id]).toContain(said.error.decided_by.person_id);
        expect(said.error.decided_at).toMatch(/^2026-11-15T09:00:00/);
        const made = await world.room.store.read(world.space.id, (tx) => tx.decisions.of(id));
        expect(made).toHaveLength(1);
      }
    },
  );

  test('[D12] twenty at once make one decision', async () => {
    const { world } = await openDesk({ env: AT_ONCE });
    const id = await world.deliver();
    const content_sha256 = await hashOf(world, id);
    const replies = await Promise.all(
      Array.from({ length: 20 }, () =>
        status(world.desk('POST', `/desk/deliveries/${id}/decision`, { status: 'approved', content_sha256 })),
      ),
    );
    expect(replies.sort()).toEqual([200, ...Array(19).fill(409)]);
  });
});

describe('undoing', () => {
  test('[D14] works while the decision is held, and the delivery is open again', async () => {
    const { world } = await openDesk();
    const id = await world.deliver();
    await world.decide(id, { status: 'approved' });
    await world.tick(10 * SECOND - 1);
    expect(await body(undo(world, id))).toMatchObject({
      state: 'pending',
      effect_at: null,
      section: 'needs_you',
    });
    await world.tick(60 * SECOND);
    expect(await poll(world, id)).toMatchObject({ status: 'pending' });
    expect((await world.decide(id, { status: 'rejected' })).status).toBe(200);
  });

  test('[D14] anybody who may decide may undo', async () => {
    const { world } = await openDesk();
    const { token } = await world.addPerson('second@example.com', 'decider');
    const id = await world.deliver();
    await world.decide(id, { status: 'approved' });
    expect(await status(world.desk('DELETE', `/desk/deliveries/${id}/decision`, undefined, token))).toBe(200);
  });

  test('[D14] is 409 nothing_held afterwards, from the very moment the window ends', async () => {
    const { world, clock } = await openDesk();
    const id = await world.deliver();
    expect(await refused(undo(world, id))).toEqual({ status: 409, code: 'nothing_held' });
    await world.decide(id, { status: 'approved' });
    clock.turn(10 * SECOND);
    expect(await refused(undo(world, id))).toEqual({ status: 409, code: 'nothing_held' });
    await world.tick(0);
    const reply = await undo(world, id);
    expect(reply.status).toBe(409);
    expect(await reply.json()).toMatchObject({
      error: { code: 'nothing_held', decided_by: { name: 'Olga Owner' } },
    });
    expect(await poll(world, id)).toMatchObject({ status: 'approved' });
  });

  test('[D14] twice is once', async () => {
    const { world } = await openDesk();
    const id = await world.deliver();
    await world.decide(id, { status: 'approved' });
    const replies = await Promise.all([status(undo(world, id)), status(undo(world, id))]);
    expect(replies.sort()).toEqual([200, 409]);
  });

  test('[D14] an agent that withdraws meanwhile is never told of the decision', async () => {
    const { world } = await openDesk();
    const id = await world.deliver();
    await world.decide(id, { status: 'approved', feedback: 'go ahead' });
    const answer = await body(world.post(`/wake/v1/withdraw/${id}`, { reason: 'done already' }));
    expect(answer).toMatchObject({ status: 'rejected', feedback: 'Withdrawn by the agent: done already' });
    await world.tick(60 * SECOND);
    expect(await poll(world, id)).toEqual(answer);
    expect(await refused(undo(world, id))).toMatchObject({ code: 'nothing_held' });
  });
});

describe('what the person wrote', () => {
  const edited = {
    number: 1200,
    text: '1200',
    fraction: 0.1,
    negative: -7.5e-7,
    large: 9007199254740991,
    yes: true,
    yesText: 'true',
    nothing: null,
    empty: '',
    list: [1, '1', [null, {}], []],
    'ключ "quoted" \\ \u2028': 'line\nbreak\ttab \u0000 nul',
    emoji: '👩‍👩‍👧‍👦 é é ﷽',
    html: '<script>alert(1)</script> & &amp;',
    deep: { a: { b: { c: [{ d: 'e' }] } } },
  };

  test('[D18] edited content reaches the agent with the same types and characters', async () => {
    const { world } = await openDesk({ env: AT_ONCE });
    const id = await world.deliver();
    await world.decide(id, { status: 'redirected', edited_content: edited });
    expect((await poll(world, id)).edited_content).toStrictEqual(edited);
    const swept = await body<{ deliveries: unknown[] }>(world.get('/wake/v1/responses?status=redirected'));
    expect(swept.deliveries).toStrictEqual([await poll(world, id)]);
  });

  test.each([
    ' leading and trailing ',
    'line\r\nbreaks\n\n',
    'é é 👩‍👩‍👧‍👦 \u202e right to left',
    '{"not":"json"}',
    'null',
    '=SUM(A1)',
    'x'.repeat(20_000),
  ])('[D18] feedback %j and text as edited content too', async (text) => {
    const { world } = await openDesk({ env: AT_ONCE });
    const id = await world.deliver();
    await world.decide(id, { status: 'redirected', feedback: text, edited_content: text });
    expect(await poll(world, id)).toMatchObject({ feedback: text, edited_content: text });
  });

  test('[D18] left out, null and empty feedback are null', async () => {
    const { world } = await openDesk({ env: AT_ONCE });
    for (const over of [{}, { feedback: null, edited_content: null }, { feedback: '' }]) {
      const id = await world.deliver();
      await world.decide(id, { status: 'rejected', ...over });
      expect(await poll(world, id)).toMatchObject({ feedback: null, edited_content: null });
    }
  });
});
