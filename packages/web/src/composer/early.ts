import { useEffect, useSyncExternalStore } from 'react';
import type { Detail, Verdict } from '../api/types.ts';
import { useMayDecide } from '../api/use-may-decide.ts';
import { useKeys } from '../keys/use-keys.ts';
import { asksForAnswer } from '../words/delivery.ts';
import { words } from './words.ts';

type Early = { id: string; verdict: Verdict };

let kept: Early | null = null;
const listeners = new Set<() => void>();

function change(next: Early | null): void {
  kept = next;
  for (const tell of listeners) tell();
}

/** A verdict key that was pressed before its delivery was ready: in the list, or while the delivery was loading. */
export const early = {
  get: () => kept,
  keep: (id: string, verdict: Verdict) => change({ id, verdict }),
  drop: (id: string) => {
    if (kept?.id === id) change(null);
  },
  subscribe: (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};

/**
 * The verdict that is waiting for this delivery. It is chosen as soon as the delivery can be answered, but never sent
 * by that.
 */
export function useEarlyVerdict(id: string, detail: Detail | undefined): Verdict | null {
  const found = useSyncExternalStore(early.subscribe, early.get);
  const mayDecide = useMayDecide();
  const keep = (verdict: Verdict) => () => early.keep(id, verdict);
  useKeys(
    detail === undefined && mayDecide
      ? { approve: keep('approved'), redirect: keep('redirected'), reject: keep('rejected') }
      : {},
  );
  const verdict = found?.id === id ? found.verdict : null;
  useEffect(() => () => early.drop(id), [id]);
  useEffect(() => {
    if (verdict === null || detail === undefined) return;
    early.drop(id);
    if (!mayDecide || detail.state !== 'pending' || !asksForAnswer(detail.type)) return;
    // The saved draft first: otherwise the mode alone would be saved over its words.
    if (detail.draft !== null && detail.draft !== undefined) words.adopt(id, detail.draft);
    words.write(id, { mode: verdict });
    requestAnimationFrame(() => document.getElementById('feedback')?.focus());
  }, [verdict, detail, id, mayDecide]);
  return verdict;
}
