import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { answer, ID, startWorld } from '../testing/room.ts';

describe('lantern wait', () => {
  it.each([
    ['approved', 0, 'approved: go on as planned\nGood.\n'],
    ['rejected', 3, 'rejected: do not go on\nGood.\n'],
    ['redirected', 4, 'redirected: work these in first\nGood.\n{\n  "brief": "short"\n}\n'],
  ])('[W23] %s ends with %i and says what to do', async (status, code, out) => {
    const edited_content = status === 'redirected' ? { brief: 'short' } : null;
    const body = answer(status, { feedback: 'Good.', edited_content });
    const world = await startWorld(() => ({ status: 200, body }));
    expect(await world.run(['wait', ID])).toEqual({ code, out, err: '' });
  });

  it.each([
    ['rejected', 3],
    ['redirected', 4],
  ])('[W14] --json prints what was answered in the words of the wire: %s', async (status, code) => {
    const body = answer(status, { feedback: 'Cut.', edited_content: 'Short text' });
    const world = await startWorld(() => ({ status: 200, body }));
    const ended = await world.run(['wait', ID, '--json']);
    expect([ended.code, JSON.parse(ended.out)]).toEqual([code, body]);
  });

  it('[W23] an approval with edited content ends as redirected: what follows && must not run', async () => {
    const body = answer('approved', { feedback: 'Cut.', edited_content: 'Short text' });
    const world = await startWorld(() => ({ status: 200, body }));
    const ended = await world.run(['wait', ID, '--json']);
    expect([ended.code, JSON.parse(ended.out)]).toEqual([4, { ...body, status: 'redirected' }]);
    expect((await world.run(['wait', ID])).out).toContain('Short text');
  });

  it('[W23] a rejection that came with another version says it', async () => {
    const body = answer('rejected', { feedback: 'Not this.', edited_content: { brief: 'short' } });
    const world = await startWorld(() => ({ status: 200, body }));
    const { code, out } = await world.run(['wait', ID]);
    expect([code, out]).toEqual([3, 'rejected: do not go on\nNot this.\n{\n  "brief": "short"\n}\n']);
  });

  it('[W23] nobody in time ends with 5, and nothing is assumed', async () => {
    const world = await startWorld(() => ({ status: 200, body: answer('pending') }));
    const { code, out } = await world.run(['wait', ID, '--timeout', '90', '--json']);
    expect(code).toBe(5);
    expect(JSON.parse(out)).toMatchObject({ status: 'timed_out', assumption: null });
    expect(readFileSync(world.log, 'utf8')).not.toContain('"assumption"');
  });

  it('[W23] --assume is in the log when the command ends', async () => {
    const world = await startWorld(() => ({ status: 200, body: answer('pending') }));
    const { code, out } = await world.run(['wait', ID, '--timeout', '90', '--assume', 'Nobody objects.']);
    expect(code).toBe(5);
    expect(out).toContain('Nobody objects.');
    expect(readFileSync(world.log, 'utf8')).toContain('"assumption":"Nobody objects."');
  });

  it('[W23] --assume without a log is wrong usage', async () => {
    const world = await startWorld(() => ({ status: 200, body: answer('pending') }));
    const { code } = await world.run(['wait', ID, '--assume', 'Fine.'], { env: { LANTERN_LOG: 'off' } });
    expect(code).toBe(2);
    expect(world.seen).toEqual([]);
  });

  it('[W23] an answer to another delivery is refused', async () => {
    const body = answer('approved', { delivery_id: '661f9511-f30c-42e5-b827-557766551111' });
    const world = await startWorld(() => ({ status: 200, body }));
    const { code, out, err } = await world.run(['wait', ID]);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('not submitted');
  });

  it('[W9] what a person wrote cannot drive the terminal', async () => {
    const body = answer('approved', { feedback: 'a\u001b[2Jb\u202ec\nd' });
    const world = await startWorld(() => ({ status: 200, body }));
    const { out } = await world.run(['wait', ID]);
    expect(out).toBe('approved: go on as planned\na\ufffd[2Jb\ufffdc\nd\n');
  });
});
