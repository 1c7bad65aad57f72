import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { sessionQuery } from '../api/questions.ts';
import type { Detail, Verdict } from '../api/types.ts';
import { useKeys } from '../keys/use-keys.ts';
import { asksForAnswer } from '../words/delivery.ts';
import { words } from './words.ts';

/**
 * A verdict key that comes before its delivery: kept, and chosen as soon as there is something to answer. It is never sent
 * by that. Returns the verdict that waits.
 */
export function useEarlyVerdict(id: string, detail: Detail | undefined): Verdict | null {
  const [early, setEarly] = useState<{ id: string; verdict: Verdict } | null>(null);
  const { data: session } = useQuery(sessionQuery);
  const mayDecide = session !== undefined && session.person.role !== 'reader';
  const keep = (verdict: Verdict) => () => setEarly({ id, verdict });
  useKeys(
    detail === undefined && mayDecide
      ? { approve: keep('approved'), redirect: keep('redirected'), reject: keep('rejected') }
      : {},
  );
  const verdict = early?.id === id ? early.verdict : null;
  useEffect(() => {
    if (verdict === null || detail === undefined) return;
    setEarly(null);
    if (detail.state !== 'pending' || !asksForAnswer(detail.type)) return;
    // The kept draft first: a mode alone would be saved over its words.
    if (detail.draft !== null && detail.draft !== undefined) words.adopt(id, detail.draft);
    words.write(id, { mode: verdict });
    requestAnimationFrame(() => document.getElementById('feedback')?.focus());
  }, [verdict, detail, id]);
  return verdict;
}
