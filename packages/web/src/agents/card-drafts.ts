import type { CardFields } from '../api/task-types.ts';

/** A card that is being edited, beside how it was when that began. */
export type CardDraft = { before: CardFields; after: CardFields };

const drafts = new Map<string, CardDraft>();

/** By agent. They outlive their screen, so that a look elsewhere loses nothing. */
export const cardDrafts = {
  get: (agent: string) => drafts.get(agent) ?? null,
  keep: (agent: string, draft: CardDraft) => void drafts.set(agent, draft),
  drop: (agent: string) => void drafts.delete(agent),
  clear: () => drafts.clear(),
  /** Something was written that is nowhere else. */
  hasUnkept: () => [...drafts.values()].some((draft) => Object.keys(changesOf(draft)).length > 0),
};

/** Only what was changed: the rest may have been changed by somebody else meanwhile. */
export function changesOf({ before, after }: CardDraft): Partial<CardFields> {
  const names = Object.keys(after) as (keyof CardFields)[];
  const changed = names.filter((name) => JSON.stringify(after[name]) !== JSON.stringify(before[name]));
  return Object.fromEntries(changed.map((name) => [name, after[name]]));
}
