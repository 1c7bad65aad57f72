import { useState } from 'react';
import { words } from './words.ts';

/** What appears within so long after an answer came by itself, and is answered only after so long, or when written in. */
const BY_ITSELF_MS = 5000;
const LOOK_MS = 1000;

let sentAt = Number.NEGATIVE_INFINITY;

export function markSent(): void {
  sentAt = performance.now();
}

/**
 * Whether the person can have seen what they would answer. After an answer the next delivery comes by itself, often with
 * a draft of before: the second press of a hasty pair, or of a double click, must not send that.
 */
export function useLookedAt(id: string): () => boolean {
  const [shown] = useState(() => {
    const at = performance.now();
    return { at, isByItself: at - sentAt < BY_ITSELF_MS, times: words.timesWritten(id) };
  });
  return () =>
    !shown.isByItself || words.timesWritten(id) !== shown.times || performance.now() - shown.at >= LOOK_MS;
}
