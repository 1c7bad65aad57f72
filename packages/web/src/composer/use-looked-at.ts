import { useState } from 'react';
import { words } from './words.ts';

const LOOK_MS = 1000;

/**
 * Whether the person can have seen what they would answer. After an answer the next delivery comes by itself, often with
 * a draft of before: the second press of a hasty pair, or of a double click, must not send that. Whoever has written
 * something here has looked.
 */
export function useLookedAt(id: string): () => boolean {
  const [shown] = useState(() => ({ at: performance.now(), times: words.timesWritten(id) }));
  return () => words.timesWritten(id) !== shown.times || performance.now() - shown.at >= LOOK_MS;
}
