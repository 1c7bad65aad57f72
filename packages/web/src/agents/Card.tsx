import { useEffect, useRef, useState } from 'react';
import { desk } from '../api/desk.ts';
import { asking, cardQuery } from '../api/questions.ts';
import { calmly } from '../api/refused.ts';
import type { CardFields, CardView } from '../api/task-types.ts';
import { Text } from '../detail/Text.tsx';
import { Said } from '../frame/Said.tsx';
import { useAlone } from '../frame/use-alone.ts';
import { CardEditor } from './CardEditor.tsx';
import { CardPreview } from './CardPreview.tsx';
import { type CardDraft, cardDrafts, changesOf } from './card-drafts.ts';
import { Signature } from './Signature.tsx';

const STILL_HERE = 'What you changed before is still here. Nobody reads it until you keep it.';
const CHANGED = 'The card is changed; whoever asks for it now reads the new one.';
const CHANGED_BUT = `${CHANGED} What you have changed since is still to be kept.`;

/**
 * What the world reads about the agent. Everybody sees it, owners edit it, and both forms of the card are shown
 * below.
 */
export function Card({ agent, view, isOwner }: { agent: string; view: CardView; isOwner: boolean }) {
  const [draft, setDraft] = useCardDraft(agent);
  const [said, setSaid] = useState(draft === null ? '' : STILL_HERE);
  const { busy, alone } = useAlone(() => setSaid(''));
  const place = useFocusOnTurning(draft !== null);
  const keep = async (edited: CardDraft) => {
    try {
      asking.setQueryData(cardQuery(agent).queryKey, await desk.setCard(agent, changesOf(edited)));
      const rest = cardDrafts.rest(agent, edited);
      setDraft(rest);
      setSaid(rest === null ? CHANGED : CHANGED_BUT);
    } catch (error) {
      setSaid(calmly(error));
    }
  };
  return (
    <section className="part" aria-label="Card" aria-busy={busy} ref={place}>
      <h2>Card</h2>
      {draft === null ? (
        <Shown
          card={view.card}
          onEdit={
            isOwner
              ? () => {
                  const { changed_at: _, ...fields } = view.card;
                  setDraft({ before: fields, after: fields });
                  setSaid('');
                }
              : null
          }
        />
      ) : (
        <CardEditor
          fields={draft.after}
          onChange={(after) => setDraft({ ...draft, after })}
          onKeep={() => void alone(() => keep(draft))}
          onLeave={() => {
            setDraft(null);
            setSaid('');
          }}
        />
      )}
      <Said>{said}</Said>
      <Signature view={view} isOwner={isOwner} />
      <CardPreview agent={agent} view={view} draft={draft?.after ?? null} />
    </section>
  );
}

function Shown({ card, onEdit }: { card: CardFields; onEdit: (() => void) | null }) {
  return (
    <>
      <p className="card-description agent">
        <Text>{card.description}</Text>
      </p>
      <ul className="lines">
        {card.skills.map((skill) => (
          <li key={skill.id}>
            <b>
              <Text>{skill.name}</Text>
            </b>
            <span className="said agent card-skill">
              <Text>{skill.description}</Text>
            </span>
          </li>
        ))}
      </ul>
      {onEdit !== null && (
        <button type="button" className="button edit-card" onClick={onEdit}>
          Edit the card
        </button>
      )}
    </>
  );
}

/** The draft is kept outside the screen at every change, so that leaving the screen needs no "are you sure?". */
function useCardDraft(agent: string) {
  const [draft, setDraft] = useState(() => cardDrafts.get(agent));
  const change = (next: CardDraft | null) => {
    if (next === null) cardDrafts.drop(agent);
    else cardDrafts.keep(agent, next);
    setDraft(next);
  };
  return [draft, change] as const;
}

/**
 * The button that was pressed disappears when the card changes between reading and editing; the focus moves to the
 * other form.
 */
function useFocusOnTurning(isEditing: boolean) {
  const place = useRef<HTMLElement>(null);
  const before = useRef(isEditing);
  useEffect(() => {
    if (before.current === isEditing) return;
    before.current = isEditing;
    place.current?.querySelector<HTMLElement>(isEditing ? 'textarea' : '.edit-card')?.focus();
  }, [isEditing]);
  return place;
}
