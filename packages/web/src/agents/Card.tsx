import { useState } from 'react';
import { desk } from '../api/desk.ts';
import { asking, cardQuery } from '../api/questions.ts';
import { calmly } from '../api/refused.ts';
import type { CardFields, CardView } from '../api/task-types.ts';
import { Text } from '../detail/Text.tsx';
import { Said } from '../frame/Said.tsx';
import { useAlone } from '../frame/use-alone.ts';
import { CardEditor } from './CardEditor.tsx';
import { CardPreview } from './CardPreview.tsx';
import { Signature } from './Signature.tsx';

/** What the world reads about the agent. Shown to all, changed by owners, with both forms beside. */
export function Card({ agent, view, isOwner }: { agent: string; view: CardView; isOwner: boolean }) {
  const [draft, setDraft] = useState<CardFields | null>(null);
  const [said, setSaid] = useState('');
  const { busy, alone } = useAlone();
  const keep = async (fields: CardFields) => {
    try {
      asking.setQueryData(cardQuery(agent).queryKey, await desk.setCard(agent, fields));
      setDraft(null);
      setSaid('The card is changed; whoever asks for it now reads the new one.');
    } catch (error) {
      setSaid(calmly(error));
    }
  };
  return (
    <section className="part" aria-label="Card" aria-busy={busy}>
      <h2>Card</h2>
      {draft === null ? (
        <>
          <p className="card-description agent">
            <Text>{view.card.description}</Text>
          </p>
          <ul className="lines">
            {view.card.skills.map((skill) => (
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
          {isOwner && (
            <button
              type="button"
              className="button"
              onClick={() => {
                const { changed_at: _, ...fields } = view.card;
                setDraft(fields);
                setSaid('');
              }}
            >
              Edit the card
            </button>
          )}
        </>
      ) : (
        <CardEditor
          fields={draft}
          onChange={setDraft}
          onKeep={() => void alone(() => keep(draft))}
          onLeave={() => setDraft(null)}
        />
      )}
      <Said>{said}</Said>
      <Signature view={view} isOwner={isOwner} />
      <CardPreview agent={agent} view={view} draft={draft} />
    </section>
  );
}
