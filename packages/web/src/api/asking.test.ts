import { QueryObserver } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { Asking } from './asking.ts';

/** Answers that are given one by one, when the test says so. */
function answers() {
  const open: ((value: string) => void)[] = [];
  const ask = () => new Promise<string>((resolve) => open.push(resolve));
  return { ask, waiting: () => open.length, give: (value: string) => open.shift()?.(value) };
}

const watching = (asking: Asking, ask: () => Promise<string>) =>
  new QueryObserver(asking, { queryKey: ['one'], queryFn: ask, staleTime: 30_000 });

test('a change while the first answer is on its way is not lost with it', async () => {
  const asking = new Asking();
  const { ask, waiting, give } = answers();
  const stop = watching(asking, ask).subscribe(() => {});
  const changed = asking.invalidateQueries({ queryKey: ['one'] });
  expect(waiting()).toBe(1);
  give('from before the change');
  await expect.poll(waiting).toBe(1);
  give('from after it');
  await changed;
  expect(asking.getQueryData(['one'])).toBe('from after it');
  stop();
});

test('what nobody looks at is out of date until somebody does', async () => {
  const asking = new Asking();
  const { ask, waiting, give } = answers();
  const before = asking.prefetchQuery({ queryKey: ['one'], queryFn: ask, staleTime: 30_000 });
  const changed = asking.invalidateQueries({ queryKey: ['one'] });
  give('from before the change');
  await Promise.all([before, changed]);
  const stop = watching(asking, ask).subscribe(() => {});
  await expect.poll(waiting).toBe(1);
  stop();
});

test('an answer that is there is asked for once more only', async () => {
  const asking = new Asking();
  asking.setQueryData(['one'], 'from before the change');
  const { ask, waiting, give } = answers();
  const stop = watching(asking, ask).subscribe(() => {});
  const changed = asking.invalidateQueries({ queryKey: ['one'] });
  give('from after it');
  await changed;
  expect(waiting()).toBe(0);
  expect(asking.getQueryData(['one'])).toBe('from after it');
  stop();
});
