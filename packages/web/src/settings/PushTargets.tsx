import { useState } from 'react';
import { desk } from '../api/desk.ts';
import { asking } from '../api/questions.ts';
import { calmly } from '../api/refused.ts';
import { Field } from '../entry/Field.tsx';
import { Sure } from '../frame/Sure.tsx';

/** Where callers of this space's agents may have news of their tasks sent. */
export function PushTargets({ targets, isOwner }: { targets: string[] | null; isOwner: boolean }) {
  const [url, setUrl] = useState('');
  const [said, setSaid] = useState('');
  const set = async (wanted: string[] | null, word: string) => {
    try {
      await desk.setPushTargets(wanted);
      setUrl('');
      setSaid(word);
      await asking.invalidateQueries({ queryKey: ['settings'] });
    } catch (error) {
      setSaid(calmly(error));
    }
  };
  return (
    <section className="part" aria-label="Push notifications">
      <h2>Push notifications</h2>
      <p className="said">{pushWords(targets)}</p>
      <ul className="lines">
        {targets?.map((target) => (
          <li key={target}>
            <span className="mono">{target}</span>
            {isOwner && (
              <Sure
                word="Remove"
                question="News of tasks will no longer be sent there."
                onSure={() =>
                  void set(
                    targets.filter((other) => other !== target),
                    'Removed.',
                  )
                }
              />
            )}
          </li>
        ))}
      </ul>
      <p className="said" role="status">
        {said}
      </p>
      {isOwner && (
        <form
          className="form"
          onSubmit={(event) => {
            event.preventDefault();
            void set([...(targets ?? []), url.trim()], 'Allowed.');
          }}
        >
          <Field
            label={targets === null ? 'Only to this address' : 'Another address'}
            type="url"
            placeholder="https://partner.example.com/hooks"
            value={url}
            onText={setUrl}
            required
          />
          <button type="submit" className="button">
            Allow it
          </button>
        </form>
      )}
      {isOwner && targets !== null && (
        <Sure
          word="Drop the list"
          question="Callers may then choose any public https address."
          onSure={() => void set(null, 'Callers may choose the address.')}
        />
      )}
    </section>
  );
}

function pushWords(targets: string[] | null): string {
  if (targets === null)
    return 'Whoever calls an agent here may have news of the task sent to any public https address. A list restricts that.';
  if (targets.length === 0) return 'News of tasks is sent nowhere but to agents on this server.';
  return 'News of tasks may be sent to these, and to what lies below them.';
}
