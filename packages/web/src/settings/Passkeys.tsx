import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { desk, type Passkey } from '../api/desk.ts';
import { calmlyOfPasskey, canUsePasskeys, makePasskey } from '../api/passkeys.ts';
import { asking, passkeysQuery } from '../api/questions.ts';
import { Text } from '../detail/Text.tsx';
import { Field } from '../entry/Field.tsx';
import { Said } from '../frame/Said.tsx';
import { Sure } from '../frame/Sure.tsx';
import { Trouble } from '../frame/Trouble.tsx';
import { useAlone } from '../frame/use-alone.ts';
import { useNow } from '../live/now.ts';
import { timeAndDay } from '../words/time.ts';
import { isProofNeeded, ProveDialog } from './ProveDialog.tsx';

const again = () => void asking.invalidateQueries({ queryKey: passkeysQuery.queryKey });

export function Passkeys() {
  const { data, error } = useQuery(passkeysQuery);
  const [said, setSaid] = useState('');
  const { alone } = useAlone(() => setSaid(''));
  const run = async (work: () => Promise<unknown>, done: string) => {
    const isDone = await alone(async () => {
      try {
        await work();
        setSaid(done);
        return true;
      } catch (error) {
        setSaid(calmlyOfPasskey(error));
        return false;
      } finally {
        again();
      }
    });
    return isDone ?? false;
  };
  return (
    <section className="part" aria-label="Passkeys">
      <h2>Passkeys</h2>
      <p className="said">
        A passkey logs you in with your fingerprint, face or device PIN. There is nothing to remember, and
        nothing that somebody else could type.
      </p>
      <Trouble of={error} />
      {data !== undefined && data.passkeys.length > 0 && (
        <ul className="lines">
          {data.passkeys.map((passkey) => (
            <OnePasskey key={passkey.passkey_id} passkey={passkey} run={run} />
          ))}
        </ul>
      )}
      {data !== undefined && <AddPasskey origin={data.origin} onSaid={setSaid} />}
      <Said>{said}</Said>
    </section>
  );
}

function OnePasskey({
  passkey,
  run,
}: {
  passkey: Passkey;
  run: (work: () => Promise<unknown>, done: string) => Promise<boolean>;
}) {
  const [name, setName] = useState<string | null>(null);
  const now = useNow();
  const rename = async (event: React.FormEvent) => {
    event.preventDefault();
    if (await run(() => desk.renamePasskey(passkey.passkey_id, name ?? ''), 'It has a new name.'))
      setName(null);
  };
  if (name !== null)
    return (
      <li>
        <form className="form-line" onSubmit={rename}>
          <Field label="A new name" value={name} onText={setName} required maxLength={60} autoFocus />
          <button type="submit" className="button">
            Keep it
          </button>
          <button type="button" className="plain" onClick={() => setName(null)}>
            Leave it
          </button>
        </form>
      </li>
    );
  const used = passkey.last_used_at;
  return (
    <li>
      <b>
        <Text>{passkey.name}</Text>
      </b>
      <span className="said">
        made {timeAndDay(passkey.created_at, now)},{' '}
        {used === null ? 'not used yet' : `last used ${timeAndDay(used, now)}`}
        {passkey.backed_up ? ', on all your devices' : ''}
      </span>
      <span className="line-actions">
        <button type="button" className="plain" onClick={() => setName(passkey.name)}>
          Rename
        </button>
        <Sure
          word="Remove"
          question="It will no longer log you in."
          onSure={() => void run(() => desk.removePasskey(passkey.passkey_id), 'The passkey is removed.')}
        />
      </span>
    </li>
  );
}

function AddPasskey({ origin, onSaid }: { origin: string | null; onSaid: (said: string) => void }) {
  const [name, setName] = useState('');
  const [isProving, setProving] = useState(false);
  const { busy, alone } = useAlone();
  if (origin === null)
    return (
      <p className="said">
        This desk is reached by a bare address, and browsers keep passkeys under a name. Give it one with
        https and set <span className="mono">LANTERNROOM_URL</span>.
      </p>
    );
  if (origin !== location.origin || !canUsePasskeys())
    return (
      <p className="said">
        {origin === location.origin ? (
          'This browser has no passkeys.'
        ) : (
          <>
            Passkeys of this desk belong to <a href={`${origin}/settings/security`}>{origin}</a>. Open the
            desk there to add one.
          </>
        )}
      </p>
    );
  const add = async () => {
    try {
      await makePasskey(name);
      setName('');
      onSaid('The passkey is here. Next time, choose “Use a passkey” when you log in.');
      again();
    } catch (error) {
      if (isProofNeeded(error)) setProving(true);
      else onSaid(calmlyOfPasskey(error));
    }
  };
  return (
    <>
      <form
        className="form-line"
        aria-busy={busy}
        onSubmit={(event) => {
          event.preventDefault();
          void alone(add);
        }}
      >
        <Field
          label="A name for it, such as the device"
          value={name}
          onText={setName}
          required
          maxLength={60}
        />
        <button type="submit" className="button">
          Add a passkey
        </button>
      </form>
      {isProving && (
        <ProveDialog
          what="the new passkey"
          onClose={() => setProving(false)}
          onProved={() => {
            setProving(false);
            void add();
          }}
        />
      )}
    </>
  );
}
