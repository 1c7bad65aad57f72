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
  localStorage.removeItem('lanternroom.seen');
  navigator.serviceWorker?.controller?.postMessage('forget');
}
