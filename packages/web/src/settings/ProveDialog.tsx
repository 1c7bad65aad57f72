import { useState } from 'react';
import { desk } from '../api/desk.ts';
import { calmlyOfPasskey, proveByPasskey } from '../api/passkeys.ts';
import { calmly, isRefused } from '../api/refused.ts';
import { Field } from '../entry/Field.tsx';
import { Dialog } from '../frame/Dialog.tsx';
import { Trouble } from '../frame/Trouble.tsx';

/** Before a new way in is made: whoever sits at an open desk is not always the one who logged in. */
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
  const byPassword = async (event: React.FormEvent) => {
    event.preventDefault();
    try {
      await desk.prove({ password });
      onProved();
    } catch (error) {
      setSaid(isRefused(error) && error.field === 'password' ? error.message : calmly(error));
    }
  };
  return (
    <Dialog title="Is it you?" onClose={onClose}>
      <p className="said">
        You logged in a while ago. Show once more that it is you; then the new passkey can be made.
      </p>
      <form className="entry-form" onSubmit={byPassword}>
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
            <button
              type="button"
              className="button"
              onClick={() => void proveByPasskey().then(onProved, (error) => setSaid(calmlyOfPasskey(error)))}
            >
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
