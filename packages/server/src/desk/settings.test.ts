import { describe, expect, test } from 'vitest';
import { body, openDesk, refused, status } from '../testing/desk/desk.ts';
import { StreamReader } from '../testing/network/stream.ts';

const AT = '/desk/settings/push-targets';

describe('the list of push targets', () => {
  test('[A18] there is none at first; an owner sets it, empties it and drops it, and everybody sees it', async () => {
    const { world } = await openDesk();
    const reader = await world.addPerson('r@example.com', 'reader');
    const shown = async () =>
      (await body<{ push_targets: unknown }>(world.desk('GET', '/desk/settings', undefined, reader.token)))
        .push_targets;
    expect(await shown()).toBeNull();
    for (const push_targets of [['https://partner.example/hooks'], [], null]) {
      expect(await body(world.desk('PUT', AT, { push_targets }))).toEqual({ push_targets });
      expect(await shown()).toEqual(push_targets);
      await world.restart();
      expect(await shown()).toEqual(push_targets);
    }
  });

  test('[A18] is for owners, and of one space alone', async () => {
    const { world } = await openDesk();
    const decider = await world.addPerson('d@example.com', 'decider');
    expect(await status(world.desk('PUT', AT, { push_targets: [] }, decider.token))).toBe(403);
    const other = await world.addSpace('elsewhere');
    const far = await world.addPerson('o@example.com', 'owner', other);
    await world.desk('PUT', AT, { push_targets: ['https://a.example'] });
    const theirs = await body(world.desk('GET', '/desk/settings', undefined, far.token));
    expect(theirs.push_targets).toBeNull();
  });

  test.each([
    ['no list', {}, 400],
    ['a text', { push_targets: 'https://a.example' }, 422],
    ['a number in it', { push_targets: [1] }, 422],
    ['too many', { push_targets: Array.from({ length: 101 }, (_, n) => `https://a${n}.example`) }, 422],
    ['plain http', { push_targets: ['https://a.example', 'http://b.example'] }, 422],
    ['a wildcard', { push_targets: ['https://*.example'] }, 422],
    ['userinfo', { push_targets: ['https://me@a.example'] }, 422],
  ])('[A18] %s is refused by name and changes nothing', async (_, sent, wanted) => {
    const { world } = await openDesk();
    await world.desk('PUT', AT, { push_targets: ['https://before.example'] });
    expect(await refused(world.desk('PUT', AT, sent))).toMatchObject({
      status: wanted,
      field: 'push_targets',
    });
    const { push_targets } = await body(world.desk('GET', '/desk/settings'));
    expect(push_targets).toEqual(['https://before.example']);
  });

  test('[D17] a change is told on the stream', async () => {
    const { world } = await openDesk();
    const stream = await StreamReader.open(world.desk('GET', '/desk/stream'));
    expect(await stream.next()).toMatchObject({ event: 'hello' });
    await world.desk('PUT', AT, { push_targets: [] });
    expect(await stream.next()).toEqual({ event: 'change', data: { about: 'settings' } });
  });
});
