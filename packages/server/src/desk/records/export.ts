import type { SpaceId } from '../../core/ids.ts';
import type { LedgerLine } from '../../core/ledger/ledger.ts';
import type { Room } from '../../core/room.ts';
import type { Turns } from '../../http/waiting/turns.ts';
import { endOfLedger } from '../ledger-end.ts';
import { CSV_HEADER, fromLine, fromLineToCsv } from '../mapping.ts';

const PAGE = 1000;

type Export = { space: SpaceId; format: 'ndjson' | 'csv'; turns: Turns };

/**
 * Page by page, oldest first: a ledger of any length is sent in constant memory. It holds what was there at the time of
 * the request and nothing later, or it would never end while much is written.
 */
export async function* exportLines(room: Room, { space, format, turns }: Export): AsyncGenerator<string> {
  const end = await room.store.read(space, endOfLedger);
  if (format === 'csv') yield CSV_HEADER;
  for (let after = 0; after < end; ) {
    await turns.next();
    const limit = Math.min(PAGE, end - after);
    const lines = await room.store.read(space, (tx) => tx.ledger.page(after, limit));
    yield lines.map(format === 'csv' ? fromLineToCsv : fromLineToJson).join('');
    after = lines.at(-1)?.seq ?? end;
  }
}

function fromLineToJson(line: LedgerLine): string {
  return `${JSON.stringify(fromLine(line))}\n`;
}
