import type { CardFields } from '../api/task-types.ts';

/** A card that is being edited, and the card as it was when the editing began. */
export type CardDraft = { before: CardFields; after: CardFields };

const drafts = new Map<string, CardDraft>();

/** Drafts by agent. They outlive their screen, so that visiting another screen loses nothing. */
export const cardDrafts = {
  get: (agent: string) => drafts.get(agent) ?? null,
  keep: (agent: string, draft: CardDraft) => void drafts.set(agent, draft),
  drop: (agent: string) => void drafts.delete(agent),
  /** What is left to keep after these changes: those that were made while they were on their way. */
  rest: (agent: string, kept: CardDraft): CardDraft | null => {
    const draft = drafts.get(agent);
    return draft === undefined || draft === kept ? null : { before: kept.after, after: draft.after };
  },
  clear: () => drafts.clear(),
  /** Whether something was changed that is not saved anywhere else. */
  hasUnkept: () => [...drafts.values()].some((draft) => Object.keys(changesOf(draft)).length > 0),
};

/** Only the changed fields: somebody else may have changed the others in the meantime. */
export function changesOf({ before, after }: CardDraft): Partial<CardFields> {
  const names = Object.keys(after) as (keyof CardFields)[];
  const changed = names.filter((name) => JSON.stringify(after[name]) !== JSON.stringify(before[name]));
  return Object.fromEntries(changed.map((name) => [name, after[name]]));
}
