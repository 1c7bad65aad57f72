import { SERVER } from '../../core/store.ts';
import { readHead } from '../heads.ts';
import type { Session } from '../statement.ts';

/** Where the data went; null while it is here. */
export async function whereMoved(session: Session): Promise<string | null> {
  const head = await readHead(session, SERVER, 'moved');
  return head === null || head.n === 0 ? null : head.text;
}

/** Two stores that both take deliveries would diverge for ever, so the old one stays closed. */
export async function assertNotMoved(session: Session): Promise<void> {
  const head = await readHead(session, SERVER, 'moved');
  if (head === null) return;
  throw new Error(
    head.n === 0
      ? `This is an unfinished copy of ${head.text}. Finish it with "lanternroom migrate".`
      : `This data was moved to ${head.text}. Start there, or move it back with "lanternroom migrate".`,
  );
}
