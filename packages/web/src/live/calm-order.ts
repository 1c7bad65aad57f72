import { useEffect } from 'react';
import { list } from '../inbox/list-store.ts';

const IDLE_MS = 150_000;
const AWAY_MS = 20_000;

/** The order settles when the person comes back, or after they have not touched anything for a while. */
export function useCalmOrder(): void {
  useEffect(() => {
    let awaySince: number | null = null;
    let timer = setTimeout(idle, IDLE_MS);
    function idle() {
      if (!document.hidden) void list.settle();
      timer = setTimeout(idle, IDLE_MS);
    }
    const touched = () => {
      clearTimeout(timer);
      timer = setTimeout(idle, IDLE_MS);
    };
    const turned = () => {
      if (document.hidden) {
        awaySince = Date.now();
      } else if (awaySince !== null && Date.now() - awaySince > AWAY_MS) {
        void list.settle();
      }
    };
    const TOUCHES = ['keydown', 'pointerdown', 'pointermove', 'wheel'] as const;
    for (const name of TOUCHES) addEventListener(name, touched, { passive: true });
    document.addEventListener('visibilitychange', turned);
    return () => {
      clearTimeout(timer);
      for (const name of TOUCHES) removeEventListener(name, touched);
      document.removeEventListener('visibilitychange', turned);
    };
  }, []);
}
