import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { madeOnce } from './made-once.ts';

test('[W29] a document that anybody may read is made once for each address of ours', async () => {
  let [made, url] = [0, 'http://a'];
  const app = Fastify();
  app.get(
    '/document',
    madeOnce({ baseUrl: () => url }, () => ({ url, made: ++made })),
  );
  const read = async () => (await app.inject('/document')).json();
  expect([await read(), await read()]).toEqual(Array(2).fill({ url: 'http://a', made: 1 }));
  url = 'http://b';
  expect(await read()).toEqual({ url: 'http://b', made: 2 });
  expect((await app.inject('/document')).headers['content-type']).toBe('application/json; charset=utf-8');
});
