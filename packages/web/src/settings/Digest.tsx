import { useState } from 'react';
import type { Preferences } from '../api/types.ts';
import { Field } from '../entry/Field.tsx';
import { Said } from '../frame/Said.tsx';

type Value = Preferences['digest'];

/** Off until the person turns it on. One message per sitting, never in the quiet hours. */
export function Digest({
  hasMail,
  digest,
  words,
  said,
  onChange,
}: {
  digest: Value;
  /** What it does at present. */
  words: string;
  hasMail: boolean;
  said: string;
  onChange: (digest: Value) => Promise<boolean>;
}) {
  const [kind, setKind] = useState(digest.kind);
  const [target, setTarget] = useState(digest.target ?? '');
  const choose = async (next: Value['kind']) => {
    setKind(next);
    if (next !== 'off' || digest.kind === 'off') return;
    if (!(await onChange({ kind: 'off', target: null }))) setKind(digest.kind);
  };
  return (
    <section className="part" aria-label="Digest">
      <h2>Digest</h2>
      <p className="said">{words}</p>
      <fieldset className="choice-set">
        <legend className="unseen">Digest</legend>
        {(['off', 'email', 'webhook'] as const).map((value) => (
          <label key={value}>
            <input
              type="radio"
              name="digest"
              checked={kind === value}
              disabled={value === 'email' && !hasMail}
              onChange={() => void choose(value)}
            />{' '}
            <span>{{ off: 'Off', email: 'By e-mail', webhook: 'By webhook' }[value]}</span>
          </label>
        ))}
      </fieldset>
      {!hasMail && (
        <p className="said">
          E-mail is possible once the person who runs the server has set LANTERNROOM_SMTP_URL.
        </p>
      )}
      {kind !== 'off' && (
        <form
          className="form-line"
          onSubmit={(event) => {
            event.preventDefault();
            void onChange({ kind, target: target.trim() });
          }}
        >
          <Field
            label={kind === 'email' ? 'To this address' : 'To this https address'}
            type={kind === 'email' ? 'email' : 'url'}
            value={target}
            onText={setTarget}
            required
          />
          <button type="submit" className="button">
            {digest.kind === 'off' ? 'Turn it on' : 'Change it'}
          </button>
        </form>
      )}
      <Said>{said}</Said>
    </section>
  );
}
