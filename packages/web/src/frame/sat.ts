import { useEffect } from 'react';
import { desk } from '../api/desk.ts';
import { asking } from '../api/questions.ts';

let decided = false;
let upAt = 0;

/** An answer has really gone out. One that was given before the person got up belongs to that sitting. */
export function hasDecided(givenAt: number): void {
  if (givenAt > upAt) decided = true;
}

/** The person got up: the tide line starts anew from here. */
export async function gotUp(): Promise<void> {
  decided = false;
  upAt = Date.now();
  await desk.sat().catch(() => {});
  void asking.invalidateQueries({ queryKey: ['overview'] });
}

/** Whoever decided something and then turns away has sat. */
export function useSat(): void {
  useEffect(() => {
    const turned = () => {
      if (document.hidden && decided) void gotUp();
    };
    document.addEventListener('visibilitychange', turned);
    return () => document.removeEventListener('visibilitychange', turned);
  }, []);
}
