import { useEffect } from 'react';
import { desk } from '../api/desk.ts';
import { asking } from '../api/questions.ts';

let decided = false;
let upAt = 0;

/** An answer has become final. One that was given before the person got up belongs to the earlier sitting. */
export function hasDecided(givenAt: number): void {
  if (givenAt > upAt) decided = true;
}

/** The person got up: from now on, the tide line marks what arrives after this moment. */
export async function gotUp(): Promise<void> {
  decided = false;
  upAt = Date.now();
  await desk.sat().catch(() => {});
  void asking.invalidateQueries({ queryKey: ['overview'] });
}

/** A person who decides something and then leaves the tab has had a sitting. */
export function useSat(): void {
  useEffect(() => {
    const turned = () => {
      if (document.hidden && decided) void gotUp();
    };
    document.addEventListener('visibilitychange', turned);
    return () => document.removeEventListener('visibilitychange', turned);
  }, []);
}
