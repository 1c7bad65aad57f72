import { expect, test } from 'vitest';
import { UntilChanged } from './until-changed.ts';

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

function counting() {
  const state = { version: 1, looks: 0, finds: 0 };
  const answers = new UntilChanged<{ n: number }>(() => {
    state.looks++;
    return state.version;
  });
  const get = () => answers.get('key', async () => ({ n: ++state.finds }));
  return { state, answers, get };
}

test('[W1] a key is looked up once while nothing changes, and again after a commit of ours', async () => {
  const { state, answers, get } = counting();
  expect(await get()).toEqual({ n: 1 });
  expect(await get()).toEqual({ n: 1 });
  answers.forget();
  expect(await get()).toEqual({ n: 2 });
  expect(state.finds).toBe(2);
});

test('[W1] a commit of another process is noticed in the next turn of the event loop', async () => {
  const { state, get } = counting();
  await get();
  await get();
  expect(state.looks).toBe(1);
  state.version = 2;
  await nextTurn();
  expect(await get()).toEqual({ n: 2 });
});

test('[W1] an answer that was found while something changed is not kept', async () => {
  const { answers, get } = counting();
  const first = answers.get('key', async () => {
    answers.forget();
    return { n: -1 };
  });
  expect(await first).toEqual({ n: -1 });
  expect(await get()).toEqual({ n: 1 });
});

test('[W1] a key that is not known is asked for again', async () => {
  const { answers, get } = counting();
  expect(await answers.get('key', async () => null)).toBeNull();
  expect(await get()).toEqual({ n: 1 });
});
