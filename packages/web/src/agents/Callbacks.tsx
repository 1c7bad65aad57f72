import { useState } from 'react';
import { desk } from '../api/desk.ts';
import { asking } from '../api/questions.ts';
import { calmly } from '../api/refused.ts';
import type { Agent } from '../api/types.ts';
import { Field } from '../entry/Field.tsx';
import { Copied } from '../frame/Copied.tsx';
import { Sure } from '../frame/Sure.tsx';

/** Where answers may be sent. An address that is not on the list is refused, at delivery and again when sending. */
export function Callbacks({ agent, isOwner }: { agent: Agent; isOwner: boolean }) {
  const [url, setUrl] = useState('');
  const [said, setSaid] = useState('');
  const [secret, setSecret] = useState<string | null>(null);
  const id = agent.agent_id;
  const run = async (work: () => Promise<string>) => {
    try {
      setSaid(await work());
      void asking.invalidateQueries({ queryKey: ['agents', id] });
    } catch (error) {
      setSaid(calmly(error));
    }
  };
  const set = (callbacks: string[], word: string) =>
    run(async () => {
      await desk.setCallbacks(id, callbacks);
      setUrl('');
      return word;
    });
  const test = (target: string) =>
    run(async () => {
      const result = await desk.testCallback(id, target);
      if (result.ok) return `${target} answered ${result.status ?? 'well'}.`;
      return `${target} did not take it: ${result.reason ?? `it answered ${result.status}`}.`;
    });
  return (
    <section className="part" aria-label="Callbacks">
      <h2>Callbacks</h2>
      <p className="said">
        {agent.callbacks.length === 0
          ? 'None. The agent polls or sweeps for its answers.'
          : 'Answers may be sent to these, and to what lies below them.'}
      </p>
      <ul className="lines">
        {agent.callbacks.map((callback) => (
          <li key={callback}>
            <span className="mono">{callback}</span>
            {isOwner && (
              <span className="form-line">
                <button type="button" className="plain" onClick={() => void test(callback)}>
                  Test
                </button>
                <Sure
                  word="Remove"
                  question="Answers will no longer be sent there."
                  onSure={() =>
                    void set(
                      agent.callbacks.filter((other) => other !== callback),
                      'Removed.',
                    )
                  }
                />
              </span>
            )}
          </li>
        ))}
      </ul>
      <p className="said" role="status">
        {said}
      </p>
      {isOwner && (
        <>
          <form
            className="form"
            onSubmit={(event) => {
              event.preventDefault();
              void set([...agent.callbacks, url.trim()], 'Allowed.');
            }}
          >
            <Field
              label={agent.callbacks.length === 0 ? 'An address' : 'Another address'}
              type="url"
              placeholder="https://agent.example.com/hooks"
              value={url}
              onText={setUrl}
              required
            />
            <button type="submit" className="button">
              Allow it
            </button>
          </form>
          {secret === null ? (
            <Sure
              word="Make a new callback secret"
              question="The old one keeps signing beside it for a while."
              onSure={() =>
                void run(async () => {
                  setSecret((await desk.newCallbackSecret(id)).callback_secret);
                  return '';
                })
              }
            />
          ) : (
            <div className="once">
              <p>The new secret, this once.</p>
              <Copied text={secret} label="Copy the secret" />
            </div>
          )}
        </>
      )}
    </section>
  );
}
