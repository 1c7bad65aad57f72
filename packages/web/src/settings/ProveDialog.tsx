import { useState } from 'react';
import { desk } from '../api/desk.ts';
import { calmlyOfPasskey, proveByPasskey } from '../api/passkeys.ts';
import { calmly, isRefused } from '../api/refused.ts';
import { Field } from '../entry/Field.tsx';
import { Dialog } from '../frame/Dialog.tsx';
import { Trouble } from '../frame/Trouble.tsx';
import { useAlone } from '../frame/use-alone.ts';

/** Asked before a new way to log in is added: the person at an open desk is not always the one who logged in. */
export function ProveDialog({
  hasPasskey,
  onProved,
  onClose,
}: {
  hasPasskey: boolean;
  onProved: () => void;
  onClose: () => void;
}) {
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
        You logged in a while ago. Show once more that it is you; then the new passkey can be made.
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
          {hasPasskey && (
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
