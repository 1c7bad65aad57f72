import { cardDrafts } from '../agents/card-drafts.ts';
import { asking } from '../api/questions.ts';
import { foot } from '../composer/held.ts';
import { words } from '../composer/words.ts';
import { saidToAll } from '../inbox/bulk-send.ts';
import { list } from '../inbox/list-store.ts';

/** Somebody comes in, or leaves: nothing of the one before may remain in this browser. */
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
 * Away from a page that is not theirs any more. Browsers keep a page that is left as it was, and Back would show all of
 * it to whoever sits here then: it is emptied, and loaded anew if it ever comes back.
 */
export function leaveTo(place: string): void {
  enter();
  asking.clear();
  document.body.hidden = true;
  addEventListener('pageshow', () => location.reload());
  location.assign(place);
}
