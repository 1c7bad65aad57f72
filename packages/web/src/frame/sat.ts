import { useEffect } from 'react';
import { desk } from '../api/desk.ts';
import { asking } from '../api/questions.ts';

let decided = false;

/** An answer has really gone out. */
export function hasDecided(): void {
  decided = true;
}

/** The person got up: the tide line starts anew from here. */
export async function gotUp(): Promise<void> {
  decided = false;
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
