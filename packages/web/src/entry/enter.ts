import { cardDrafts } from '../agents/card-drafts.ts';
import { asking } from '../api/questions.ts';
import { foot } from '../composer/held.ts';
import { words } from '../composer/words.ts';
import { saidToAll } from '../inbox/bulk-send.ts';
import { list } from '../inbox/list-store.ts';

/** Somebody logs in or out: nothing of the person before may remain in this browser. */
export function enter(): void {
  list.clear();
  words.clear();
  foot.clear();
  saidToAll.clear();
  cardDrafts.clear();
  localStorage.removeItem('lanternroom.seen');
  navigator.serviceWorker?.controller?.postMessage('forget');
}

/**
 * Leaves a page that is no longer this person's. Browsers keep a page that was left, and Back would show all of it to
 * whoever sits here then: so it is emptied, and reloaded if it is ever shown again.
 */
export function leaveTo(place: string): void {
  enter();
  asking.clear();
  document.body.hidden = true;
  addEventListener('pageshow', () => location.reload());
  location.assign(place);
}
