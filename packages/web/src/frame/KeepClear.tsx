import { type RefObject, useLayoutEffect } from 'react';
import { useSeconds } from '../live/now.ts';

const BARS = '.composer, .bulk, .rail';
const GAP = 12;

/** What is laid over the page stands above the bars at its foot, whatever their height: their buttons are needed now. */
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
