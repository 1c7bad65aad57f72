import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { desk } from '../api/desk.ts';
import { calmlyOfPasskey, canUsePasskeys, proveByPasskey } from '../api/passkeys.ts';
import { passkeysQuery } from '../api/questions.ts';
import { calmly, isRefused } from '../api/refused.ts';
import { Field } from '../entry/Field.tsx';
import { Dialog } from '../frame/Dialog.tsx';
import { Trouble } from '../frame/Trouble.tsx';
import { useAlone } from '../frame/use-alone.ts';

export const isProofNeeded = (error: unknown) => isRefused(error) && error.code === 'proof_needed';

type Props = {
  /** What is being made, as in "the new passkey". */
  what: string;
  onProved: () => void;
  onClose: () => void;
};

/** Asked before a new way in is made: the person at an open desk is not always the one who logged in. */
export function ProveDialog({ what, onProved, onClose }: Props) {
  const { data } = useQuery(passkeysQuery);
  const hasPasskey = data !== undefined && data.passkeys.length > 0;
  const worksHere = data?.origin === location.origin && canUsePasskeys();
  const [password, setPassword] = useState('');
  const [said, setSaid] = useState('');
  const { busy, alone } = useAlone(() => setSaid(''));
  const byPassword = async () => {
    try {
      await desk.prove({ password });
      onProved();
    } catch (error) {
      setSaid(isRefused(error) && error.field === 'password' ? error.message : calmly(error));
    }
  };
  const byPasskey = () => proveByPasskey().then(onProved, (error) => setSaid(calmlyOfPasskey(error)));
  return (
    <Dialog title="Is it you?" onClose={onClose}>
      <p className="said">
        You logged in a while ago. Show once more that it is you; then {what} can be made.
      </p>
      <form
        className="entry-form"
        aria-busy={busy}
        onSubmit={(event) => {
          event.preventDefault();
          void alone(byPassword);
        }}
      >
        <Field
          label="Your password"
          type="password"
          autoComplete="current-password"
          value={password}
          onText={setPassword}
          required
          autoFocus
        />
        <Trouble of={said} />
        <div className="actions">
          {hasPasskey && worksHere && (
            <button type="button" className="button" onClick={() => void alone(byPasskey)}>
              Use a passkey
            </button>
          )}
          <button type="submit" className="button strong">
            Go on
          </button>
        </div>
      </form>
    </Dialog>
  );
}
