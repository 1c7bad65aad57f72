import { cardDrafts } from '../agents/card-drafts.ts';
import { words } from '../composer/words.ts';

/** When the page is left, hidden or closed, everything written is saved: none of it may exist only here. */
export function keepOnLeaving(): () => void {
  const leave = () => void words.flush();
  const ask = (event: BeforeUnloadEvent) => {
    leave();
    if (words.hasUnkept() || cardDrafts.hasUnkept()) event.preventDefault();
  };
  const turn = () => document.hidden && leave();
  addEventListener('pagehide', leave);
  addEventListener('beforeunload', ask);
  document.addEventListener('visibilitychange', turn);
  return () => {
    removeEventListener('pagehide', leave);
    removeEventListener('beforeunload', ask);
    document.removeEventListener('visibilitychange', turn);
  };
}
