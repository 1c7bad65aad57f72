import { useState } from 'react';
import { words } from './words.ts';

/**
 * A delivery that appears within BY_ITSELF_MS after an answer came without being chosen. It can be answered only
 * after LOOK_MS, or once something was written in it.
 */
const BY_ITSELF_MS = 5000;
const LOOK_MS = 1000;

let sentAt = Number.NEGATIVE_INFINITY;

export function markSent(): void {
  sentAt = performance.now();
}

/**
 * Whether the person can have seen what they are about to answer. After an answer the next delivery opens by itself,
 * often with an earlier draft, which the second press of a hasty pair or of a double click must not send.
 */
export function useLookedAt(id: string): () => boolean {
  const [shown] = useState(() => {
    const at = performance.now();
    return { at, isByItself: at - sentAt < BY_ITSELF_MS, times: words.timesWritten(id) };
  });
  return () =>
    !shown.isByItself || words.timesWritten(id) !== shown.times || performance.now() - shown.at >= LOOK_MS;
}
