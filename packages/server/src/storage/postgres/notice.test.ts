import { describe, expect, test } from 'vitest';
import type { Topic } from '../../core/store.ts';
import { MOST_BYTES, readNotice, writeNotices } from './notice.ts';

const named = (count: number, length = 20) =>
  Array.from({ length: count }, (_, n) => String(n).padStart(length, '-'));

function told(texts: readonly string[]) {
  const notices = texts.map((text) => readNotice(text) ?? { from: 'nobody' });
  return {
    senders: new Set(notices.map(({ from }) => from)),
    news: notices.flatMap((notice) => notice.told ?? []),
    ends: notices.flatMap((notice) => notice.ledgers ?? []),
  };
}

describe('what replicas tell each other', () => {
  test('goes in one notice where it fits', () => {
    expect(writeNotices('me', [['desk:sp_1', ['a']]], [['sp_1', 7]])).toEqual([
      '{"from":"me","told":[["desk:sp_1",["a"]]],"ledgers":[["sp_1",7]]}',
    ]);
  });

  test('goes in several where it does not: all of it, in its order, none too long', () => {
    const spaces = named(400);
    const news = spaces.map((space): [Topic, string[]] => [`desk:${space}`, [space]]);
    const texts = writeNotices(
      'me',
      news,
      spaces.map((space, n) => [space, n]),
    );
    const heard = told(texts);
    expect(heard.senders).toEqual(new Set(['me']));
    expect(heard.news).toEqual(news);
    expect(heard.ends).toEqual(spaces.map((space, n) => [space, n]));
    expect(Math.max(...texts.map((text) => Buffer.byteLength(text)))).toBeLessThanOrEqual(MOST_BYTES);
    expect(texts.length).toBeLessThan(10);
  });

  test('parts what is about one topic, and tells of a topic that is too long without its particulars', () => {
    const many = named(500);
    expect(told(writeNotices('me', [['desk:sp_1', many]], [])).news.flatMap(([, about]) => about)).toEqual(
      many,
    );
    const long = named(50, 200);
    expect(told(writeNotices('me', [['desk:sp_1', long]], [])).news).toEqual([['desk:sp_1', ['']]]);
  });

  test.each([
    '',
    'null',
    '[]',
    '{"told":[]}',
    '{"from":"x","told":[["a","b"]]}',
    '{"from":"x","ledgers":[["a",0.5]]}',
  ])('takes %s for none of ours', (text) => {
    expect(readNotice(text)).toBeNull();
  });
});
