import type { Section } from '../../core/deliveries/delivery.ts';
import { Fault } from '../../core/faults.ts';

/** Where a page ended. Only we can read it; a made-up cursor is refused. */
export type ListCursor = { section: Section; sectionAt: number; seq: number };

export function fromListCursor(c: ListCursor): string {
  return Buffer.from(JSON.stringify([c.section, c.sectionAt, c.seq])).toString('base64url');
}

/** Only within the sections being listed: a cursor from another one would silently start the list again. */
export function toListCursor(text: string | null, sections: readonly Section[]): ListCursor | null {
  if (text === null) return null;
  try {
    const [section, sectionAt, seq] = JSON.parse(Buffer.from(text, 'base64url').toString());
    const known = sections.find((s) => s === section);
    if (known !== undefined && Number.isSafeInteger(sectionAt) && Number.isSafeInteger(seq)) {
      return { section: known, sectionAt, seq };
    }
  } catch {}
  throw notOurs();
}

export function fromFoundCursor(seq: number): string {
  return Buffer.from(JSON.stringify(['found', seq])).toString('base64url');
}

export function toFoundCursor(text: string | null): number | null {
  if (text === null) return null;
  try {
    const [kind, seq] = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (kind === 'found' && Number.isSafeInteger(seq)) return seq;
  } catch {}
  throw notOurs();
}

function notOurs(): Fault {
  return new Fault('invalid_field', 'This cursor is not one of ours; start again without it.', {
    field: 'cursor',
  });
}
