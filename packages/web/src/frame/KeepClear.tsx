import { type RefObject, useLayoutEffect } from 'react';
import { useSeconds } from '../live/now.ts';

const BARS = '.composer, .bulk, .rail';
const GAP = 12;

/**
 * Places what lies over the page above the bars at its bottom, whatever their height, because their buttons must stay
 * usable.
 */
export function KeepClear({ of: place }: { of: RefObject<HTMLElement | null> }) {
  useSeconds();
  useLayoutEffect(() => {
    const { current } = place;
    if (current !== null) current.style.bottom = `${innerHeight - topOfBars(current) + GAP}px`;
  });
  return null;
}

function topOfBars(over: HTMLElement): number {
  const { left, right } = over.getBoundingClientRect();
  const below = [...document.querySelectorAll(BARS)]
    .map((bar) => bar.getBoundingClientRect())
    .filter((bar) => bar.left < right && bar.right > left && bar.top > 0 && bar.bottom > innerHeight / 2);
  return Math.min(innerHeight, ...below.map((bar) => bar.top));
}
