import { useState } from 'react';
import { desk } from '../api/desk.ts';
import type { Agent } from '../api/types.ts';
import { Addresses } from '../frame/Addresses.tsx';
import { Once } from '../frame/Once.tsx';
import { Sure } from '../frame/Sure.tsx';
import { useWork } from '../frame/use-work.ts';

/** Where answers may be sent. Any other address is refused, when a delivery names it and again before sending. */
export function Callbacks({ agent, isOwner }: { agent: Agent; isOwner: boolean }) {
  const id = agent.agent_id;
  const { said, run, busy } = useWork(['agents', id]);
  const [secret, setSecret] = useState<string | null>(null);
  const set = (callbacks: string[], word: string) =>
    run(async () => {
      await desk.setCallbacks(id, callbacks);
      return word;
    });
  const test = (target: string) =>
    run(async () => testWords(target, await desk.testCallback(id, target)), target);
  const renew = () =>
    run(async () => {
      setSecret((await desk.newCallbackSecret(id)).callback_secret);
      return '';
    });
  const isEmpty = agent.callbacks.length === 0;
  return (
    <section className="part" aria-label="Callbacks" aria-busy={busy}>
      <h2>Callbacks</h2>
      <p className="said">
        {isEmpty
          ? 'None. The agent polls or sweeps for its answers.'
          : 'Answers may be sent to these, and to what lies below them.'}
      </p>
      <Addresses
        of={agent.callbacks}
        mayChange={isOwner}
        said={said}
        words={{
          add: isEmpty ? 'An address' : 'Another address',
          such: 'https://agent.example.com/hooks',
          removed: 'Answers will no longer be sent there.',
        }}
        onSet={set}
        beside={(callback) => (
          <button type="button" className="plain" onClick={() => void test(callback)}>
            Test
          </button>
        )}
      />
      {isOwner && secret === null && (
        <Sure
          word="Make a new callback secret"
          question="The old one keeps signing beside it for a while."
          onSure={() => void renew()}
        />
      )}
      {isOwner && secret !== null && (
        <Once text={secret} called="secret">
          The new secret, this once.
        </Once>
      )}
    </section>
  );
}

type Tested = Awaited<ReturnType<typeof desk.testCallback>>;

function testWords(target: string, { ok, status, reason }: Tested): string {
  if (ok) return `${target} answered ${status ?? 'well'}.`;
  return `${target} did not take it: ${reason ?? `it answered ${status}`}.`;
}
