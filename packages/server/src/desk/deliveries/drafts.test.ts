import { describe, expect, test } from 'vitest';
import { SECOND } from '../../core/time.ts';
import { AT_ONCE, body, openDesk, refused, status } from '../../testing/desk/desk.ts';

type Detail = {
  draft: { mode: string | null; feedback: string; edited_content: unknown; saved_at: string } | null;
  previous: { delivery_id: string; details: unknown; decision: Record<string, unknown> | null } | null;
};

const DRAFT = { mode: 'redirected', feedback: 'Shorter, pl', edited_content: { readers: 1100, ok: true } };

describe('drafts', () => {
  test('[D37] keep half-written words per person, with their types', async () => {
    const { world } = await openDesk();
    const id = await world.deliver();
    const other = await world.addPerson('d@example.com', 'decider');
    expect(await status(world.desk('PUT', `/desk/deliveries/${id}/draft`, DRAFT))).toBe(204);
    const mine = await body<Detail>(world.desk('GET', `/desk/deliveries/${id}`));
    expect(mine.draft).toEqual({ ...DRAFT, saved_at: '2026-11-15T09:00:00.000000Z' });
    const theirs = await body<Detail>(world.desk('GET', `/desk/deliveries/${id}`, undefined, other.token));
    expect(theirs.draft).toBeNull();
  });

  test('[D37] the last one counts, and it can be thrown away', async () => {
    const { world } = await openDesk();
    const path = `/desk/deliveries/${await world.deliver()}`;
    await world.desk('PUT', `${path}/draft`, DRAFT);
    await world.desk('PUT', `${path}/draft`, { mode: null, feedback: '', edited_content: null });
    expect((await body<Detail>(world.desk('GET', path))).draft).toMatchObject({ mode: null, feedback: '' });
    expect(await status(world.desk('DELETE', `${path}/draft`))).toBe(204);
    expect(await status(world.desk('DELETE', `${path}/draft`))).toBe(204);
    expect((await body<Detail>(world.desk('GET', path))).draft).toBeNull();
  });

  test('[D37] survive a restart, and an undone decision', async () => {
    const { world } = await openDesk();
    const id = await world.deliver();
    const path = `/desk/deliveries/${id}`;
    await world.desk('PUT', `${path}/draft`, DRAFT);
    await world.decide(id, { status: 'approved' });
    await world.desk('DELETE', `${path}/decision`);
    await world.restart();
    expect((await body<Detail>(world.desk('GET', path))).draft).toMatchObject(DRAFT);
  });

  test('[D37] are gone, everybody’s, once the decision takes effect', async () => {
    const { world } = await openDesk();
    const id = await world.deliver();
    const path = `/desk/deliveries/${id}`;
    const other = await world.addPerson('d@example.com', 'decider');
    await world.desk('PUT', `${path}/draft`, DRAFT);
    await world.desk('PUT', `${path}/draft`, DRAFT, other.token);
    await world.decide(id, { status: 'approved' });
    await world.tick(11 * SECOND);
    for (const token of [world.token, other.token]) {
      expect((await body<Detail>(world.desk('GET', path, undefined, token))).draft).toBeNull();
    }
    expect(await refused(world.desk('PUT', `${path}/draft`, DRAFT))).toEqual({
      status: 409,
      code: 'not_pending',
    });
  });

  test('[D37] are sealed at rest', async () => {
    const { world } = await openDesk();
    const id = await world.deliver();
    await world.desk('PUT', `/desk/deliveries/${id}/draft`, { ...DRAFT, feedback: 'canaryfeedback' });
    const kept = await world.room.store.read(world.space.id, (tx) => tx.drafts.get(id, world.owner.id));
    expect(Buffer.from(kept?.sealed ?? []).toString('latin1')).not.toContain('canary');
  });

  test('[D37] need a decider, a delivery of the own space, and the right types', async () => {
    const { world } = await openDesk();
    const id = await world.deliver();
    const reader = await world.addPerson('r@example.com', 'reader');
    const stranger = await world.addPerson('s@example.com', 'owner', await world.addSpace('other'));
    const put = (draft: unknown, token = world.token, to = id) =>
      refused(world.desk('PUT', `/desk/deliveries/${to}/draft`, draft, token));
    expect((await put(DRAFT, reader.token)).status).toBe(403);
    const foreign = await put(DRAFT, stranger.token);
    expect(foreign).toEqual(await put(DRAFT, world.token, '7b0e8c0e-0000-4000-8000-000000000000'));
    expect(foreign.status).toBe(404);
    expect(await put({ ...DRAFT, mode: 'maybe' })).toMatchObject({ status: 422, field: 'mode' });
    expect(await put({ ...DRAFT, feedback: 7 })).toMatchObject({ status: 422, field: 'feedback' });
    expect(await put({ ...DRAFT, edited_content: [1] })).toMatchObject({ field: 'edited_content' });
  });
});

describe('a revision', () => {
  test('[D38] shows what it revises, with what the person said to it', async () => {
    const { world } = await openDesk({ env: AT_ONCE });
    const first = await world.deliver({ type: 'output', details: { text: 'one' } });
    await world.decide(first, { status: 'redirected', feedback: 'Warmer', edited_content: { text: 'uno' } });
    const second = await world.deliver({ type: 'output', details: { text: 'two' }, revises: first });
    const { previous } = await body<Detail>(world.desk('GET', `/desk/deliveries/${second}`));
    expect(previous).toMatchObject({
      delivery_id: first,
      details: { text: 'one' },
      decision: { status: 'redirected', feedback: 'Warmer', edited_content: { text: 'uno' } },
    });
    const { previous: none } = await body<Detail>(world.desk('GET', `/desk/deliveries/${first}`));
    expect(none).toBeNull();
  });

  test('[D38] of something undecided has no decision to show', async () => {
    const { world } = await openDesk();
    const first = await world.deliver();
    const second = await world.deliver({ revises: first });
    const { previous } = await body<Detail>(world.desk('GET', `/desk/deliveries/${second}`));
    expect(previous).toMatchObject({ delivery_id: first, decision: null });
  });
});
