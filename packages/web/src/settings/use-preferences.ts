import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { desk } from '../api/desk.ts';
import { asking, preferencesQuery } from '../api/questions.ts';
import { calmly } from '../api/refused.ts';
import type { Preferences } from '../api/types.ts';

/**
 * A change takes effect at once, and is reverted if the server refuses it. Until the server has accepted it, the
 * choice overlays the cached answer: the cache notifies its readers a moment later, and by then React would have
 * reset a checkbox.
 */
export function usePreferences() {
  const { queryKey } = preferencesQuery;
  const { data, error } = useQuery(preferencesQuery);
  const [chosen, setChosen] = useState<Partial<Preferences>>({});
  const [said, setSaid] = useState('');
  /** For typed text: it stays in its form as typed until the server has accepted it, and if the server refuses it. */
  const keep = async (next: Partial<Preferences>) => {
    setSaid('');
    try {
      const taken = await inOrder(() => desk.setPreferences(next));
      // A request that began before the change would bring the old value back.
      await asking.cancelQueries({ queryKey });
      asking.setQueryData(queryKey, taken);
      setSaid('Kept.');
      void asking.invalidateQueries({ queryKey: ['overview'] });
      return true;
    } catch (problem) {
      setSaid(calmly(problem));
      return false;
    }
  };
  const change = async (next: Partial<Preferences>) => {
    setChosen((old) => ({ ...old, ...next }));
    const before = asking.getQueryData(queryKey);
    if (before !== undefined) asking.setQueryData(queryKey, { ...before, ...next });
    const isTaken = await keep(next);
    if (!isTaken && before !== undefined) {
      asking.setQueryData(queryKey, before);
      // An earlier change that was refused as well may be part of what was before.
      void asking.invalidateQueries({ queryKey });
    }
    setChosen((old) => without(old, next));
  };
  const preferences = data === undefined ? undefined : { ...data, ...chosen };
  // A failed reload in the background says nothing about what was just chosen.
  const trouble = data === undefined && error !== null ? calmly(error) : null;
  return { preferences, change, keep, said: trouble ?? said };
}

let last: Promise<unknown> = Promise.resolve();

/** One after the other: of two changes under way at once, the server might take the older one last. */
function inOrder<T>(work: () => Promise<T>): Promise<T> {
  const done = last.then(work);
  last = done.catch(() => {});
  return done;
}

/** Keeps what was changed again in the meantime. */
function without(chosen: Partial<Preferences>, taken: Partial<Preferences>): Partial<Preferences> {
  const names = Object.keys(chosen) as (keyof Preferences)[];
  return Object.fromEntries(
    names.filter((name) => chosen[name] !== taken[name]).map((name) => [name, chosen[name]]),
  );
}
