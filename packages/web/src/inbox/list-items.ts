import type { Section } from '../api/types.ts';
import { isSearch, type ListState, tidePlace } from './list-state.ts';

/** The list as it is drawn: headings, the tide line and rows, as one flat array. */
export type Item =
  | { kind: 'heading'; key: string; section: Section | 'found' }
  | { kind: 'tide'; key: 'tide' }
  | { kind: 'row'; key: string; id: string; section: Section };

export function listItems(state: ListState, satAt: string | null): Item[] {
  const tide = tidePlace(state, satAt);
  const items: Item[] = [];
  const isFound = isSearch(state.filter);
  if (isFound && state.entries.length > 0) items.push({ kind: 'heading', key: 'h-found', section: 'found' });
  let section: Section | null = null;
  for (const entry of state.entries) {
    if (entry.section !== section && !isFound) {
      section = entry.section;
      items.push({ kind: 'heading', key: `h-${section}`, section });
    }
    if (entry.id === tide) items.push({ kind: 'tide', key: 'tide' });
    items.push({ kind: 'row', key: entry.id, id: entry.id, section: entry.section });
  }
  return items;
}
