import { describe, expect, it } from 'vitest';
import { answer, ID, received, type Said, startWorld } from '../testing/room.ts';

const OTHER = '661f9511-f30c-42e5-b827-557766551111';
const DELIVER = ['deliver', '-t', 'question', '-H', 'Release is ready', '-s', 'Ship 2.1 today?'];

function page(...deliveries: object[]): Said {
  return { status: 200, body: { deliveries, total: deliveries.length, has_more: false, next_since: 's1' } };
}

async function worldWith(...deliveries: object[]) {
  const world = await startWorld((seen) => (seen.method === 'POST' ? received : page(...deliveries)));
  await world.run(DELIVER);
  return world;
}

const queryOf = (url: string | undefined) => Object.fromEntries(new URL(url ?? '', 'http://x').searchParams);

describe('lantern responses', () => {
  it('[W17] prints one line for each answer', async () => {
    const world = await worldWith(answer('redirected', { feedback: 'Cut\nsection 3.', edited_content: 'x' }));
    const { code, out } = await world.run(['responses']);
    const note = 'Cut section 3.  (with edited content: --json shows it)';
    expect({ code, out }).toEqual({
      code: 0,
      out: `2026-03-08T12:10:00.000000Z  redirected  ${ID}  ${note}\n`,
    });
  });

  it('[W17] --json prints lines of the wire with the point to resume from', async () => {
    const world = await worldWith(answer('approved'));
    const { out } = await world.run(['responses', '--json']);
    expect(JSON.parse(out)).toEqual({ ...answer('approved'), resume_from: 's1' });
  });

  it('[W17] --since, --status and --limit reach the server', async () => {
    const world = await worldWith();
    await world.run(['responses', '--since', 's0', '--status', 'pending,rejected', '--limit', '7']);
    const agent_id = 'research-agent-01';
    expect(queryOf(world.seen[1]?.url)).toEqual({
      agent_id,
      since: 's0',
      status: 'pending,rejected',
      limit: '7',
    });
  });

  it('[W17] --limit is how many are printed, also when following', async () => {
    const world = await worldWith(answer('approved'));
    const { code, out, err } = await world.run(['responses', '--follow', '--limit', '3']);
    expect({ code, err, lines: out.trim().split('\n').length }).toEqual({ code: 0, err: '', lines: 3 });
  });

  it('[W23] answers to deliveries of other clients are left out, with a note', async () => {
    const world = await worldWith(answer('approved'), answer('rejected', { delivery_id: OTHER }));
    const { out, err } = await world.run(['responses']);
    expect(out).toContain(ID);
    expect(out).not.toContain(OTHER);
    expect(err).toContain('not sent from here: 1. --all');
    expect((await world.run(['responses', '--all'])).out).toContain(OTHER);
  });

  it('[W23] without a log nobody here knows whose they are, so all are shown', async () => {
    const world = await worldWith(answer('approved', { delivery_id: OTHER }));
    expect((await world.run(['responses'], { env: { LANTERN_LOG: 'off' } })).out).toContain(OTHER);
  });

  it.each([
    ['--status', 'maybe'],
    ['--limit', '0'],
  ])('[W17] %s %s is wrong usage', async (...option) => {
    const world = await worldWith();
    expect((await world.run(['responses', ...option])).code).toBe(2);
  });
});
