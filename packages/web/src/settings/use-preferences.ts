import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { desk } from '../api/desk.ts';
import { asking, preferencesQuery } from '../api/questions.ts';
import { calmly } from '../api/refused.ts';
import type { Preferences } from '../api/types.ts';

/**
 * Takes effect at once, and back when the server would not have it. What was just chosen lies over the answers of the
 * server until it has taken it: the cache tells its readers a moment later, and by then React has set a checkbox back.
 */
export function usePreferences() {
  const { queryKey } = preferencesQuery;
  const { data, error } = useQuery(preferencesQuery);
  const [chosen, setChosen] = useState<Partial<Preferences>>({});
  const [said, setSaid] = useState('');
  /** For what was typed: it is shown as it is until the server has taken it, and stays in its form when it was not. */
  const keep = async (next: Partial<Preferences>) => {
    setSaid('');
    try {
      const taken = await desk.setPreferences(next);
      // A question that was asked before the change would bring the old answer back.
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
    if (!isTaken && before !== undefined) asking.setQueryData(queryKey, before);
    setChosen((old) => without(old, next));
  };
  const preferences = data === undefined ? undefined : { ...data, ...chosen };
  // What could not be asked again in the background says nothing about what was just chosen.
  const trouble = data === undefined && error !== null ? calmly(error) : null;
  return { preferences, change, keep, said: trouble ?? said };
}

/** What was chosen again meanwhile stays. */
function without(chosen: Partial<Preferences>, taken: Partial<Preferences>): Partial<Preferences> {
  const names = Object.keys(chosen) as (keyof Preferences)[];
  return Object.fromEntries(
    names.filter((name) => chosen[name] !== taken[name]).map((name) => [name, chosen[name]]),
  );
}
