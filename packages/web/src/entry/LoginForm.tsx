import { useState } from 'react';
import { desk } from '../api/desk.ts';
import { calmlyOfPasskey, canUsePasskeys, loginByPasskey } from '../api/passkeys.ts';
import { calmly, isRefused } from '../api/refused.ts';
import { Trouble } from '../frame/Trouble.tsx';
import { useAlone } from '../frame/use-alone.ts';
import { Field } from './Field.tsx';

/** E-mail and password, or a passkey. What was typed stays if it was wrong. */
export function LoginForm({
  onDone,
  email: known,
}: {
  onDone: () => Promise<void>;
  email?: string | undefined;
}) {
  const [email, setEmail] = useState(known ?? '');
  const [password, setPassword] = useState('');
  const [said, setSaid] = useState('');
  const { busy, alone } = useAlone(() => setSaid(''));
  const byPassword = async () => {
    try {
      await desk.login({ email, password });
      await onDone();
    } catch (error) {
      const wrong = isRefused(error) && error.code === 'login_failed';
      setSaid(wrong ? 'E-mail and password do not match. Try again.' : calmly(error));
    }
  };
  const byPasskey = async () => {
    try {
      await loginByPasskey();
      await onDone();
    } catch (error) {
      setSaid(calmlyOfPasskey(error));
    }
  };
  return (
    <form
      className="entry-form"
      onSubmit={(event) => {
        event.preventDefault();
        void alone(byPassword);
      }}
    >
      <Field
        label="E-mail"
        type="email"
        autoComplete="username"
        value={email}
        onText={setEmail}
        required
        autoFocus={known === undefined}
      />
      <Field
        label="Password"
        type="password"
        autoComplete="current-password"
        value={password}
        onText={setPassword}
        required
        data-first={known === undefined ? undefined : ''}
      />
      <Trouble of={said} />
      <div className="entry-actions">
        <button type="submit" className="button strong" aria-disabled={busy}>
          {busy ? 'One moment…' : 'Log in'}
        </button>
        {canUsePasskeys() && (
          <button type="button" className="button" aria-disabled={busy} onClick={() => void alone(byPasskey)}>
            Use a passkey
          </button>
        )}
      </div>
    </form>
  );
}
