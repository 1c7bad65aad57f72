import { useState } from 'react';
import { grouped } from '../words/numbers.ts';

/**
 * Each step shows this many times more than the one before: that takes few steps, and none of them blocks the page.
 */
const STEP = 4;

/** The beginning of something long; says how much is left out, and shows more on request. */
export function useBeginning<T>(all: readonly T[], first: number) {
  const [count, setCount] = useState(first);
  const shown = all.length <= count ? all : all.slice(0, count);
  const left = all.length - shown.length;
  return { shown, left, more: () => setCount(count * STEP) };
}

export function More({ left, of, onMore }: { left: number; of: string; onMore: () => void }) {
  if (left <= 0) return null;
  return (
    <p className="more">
      <button type="button" className="plain" onClick={onMore}>
        Show more: {grouped(left)} {of} are not shown yet
      </button>
    </p>
  );
}
