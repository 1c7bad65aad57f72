import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { desk } from '../api/desk.ts';
import { asking } from '../api/questions.ts';
import { calmly, isRefused } from '../api/refused.ts';
import { Trouble } from '../frame/Trouble.tsx';
import { useAlone } from '../frame/use-alone.ts';
import { EntryPage } from './EntryPage.tsx';
import { enter } from './enter.ts';
import { Field } from './Field.tsx';

const LEAST = 8;

/**
 * The token is in the fragment of the address, which no server log sees; it is removed from the address bar as soon
 * as it is read.
 */
function takeToken(): string {
  const token = decoded(location.hash.slice(1)).replace(/^token=/, '');
  if (token !== '') history.replaceState(history.state, '', location.pathname);
  return token;
}

/** Every page of the desk runs this, so a fragment that is not properly encoded must not stop it. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const token = takeToken();

export function SetupPage() {
  return <TokenPage kind="setup" />;
}

export function JoinPage() {
  return <TokenPage kind="join" />;
}

export function ResetPage() {
  return <TokenPage kind="reset" />;
}

const SAID = {
  setup: {
    title: 'This desk is yours.',
    lead: 'Choose how you will log in. You can invite others later.',
    none: 'This address needs the token of the setup link. It is in the terminal where the server was started.',
    closed: 'This link has been used, or is older than a day. Restart the server for a new one, or log in.',
  },
  join: {
    title: 'You are invited.',
    lead: 'Choose a name and a password, and you are in.',
    none: 'This address needs the token of an invitation. Ask for the whole link.',
    closed:
      'This invitation has been used or withdrawn. If it was you who used it, log in; otherwise ask for a new one.',
  },
  reset: {
    title: 'A fresh start.',
    lead: 'Choose a new password. The old one, your passkeys and your sessions have ended.',
    none: 'This address needs the token of a reset link. Ask an owner for the whole link.',
    closed:
      'This link has been used, replaced, or is older than a day. If it was you who used it, log in; otherwise ask an owner for a new one.',
  },
};

const BUTTON = { setup: 'Open the desk', join: 'Join', reset: 'Keep it and log in' };

function TokenPage({ kind }: { kind: keyof typeof SAID }) {
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [said, setSaid] = useState('');
  const [isClosed, setClosed] = useState(false);
  const navigate = useNavigate();
  const text = SAID[kind];
  const { busy, alone } = useAlone(() => setSaid(''));
  const submit = async () => {
    const own = { token, password, ...(name === '' ? {} : { name }) };
    try {
      if (kind === 'setup') await desk.setUp({ ...own, email });
      else if (kind === 'join') await desk.join(own);
      else await desk.resetPassword({ token, password });
      enter();
      asking.clear();
      if (kind !== 'reset') {
        // Sittings and quiet hours are in the person's own time zone.
        const time_zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
        await desk.setPreferences({ time_zone }).catch(() => {});
      }
      await navigate({ to: '/', replace: true });
    } catch (error) {
      const isOver = isRefused(error) && error.status === 410;
      setClosed(isOver);
      setSaid(isOver ? text.closed : calmly(error));
    }
  };
  if (token === '')
    return (
      <EntryPage title="Almost there.">
        <p>{text.none}</p>
        <p>
          <a href="/login">Log in instead</a>
        </p>
      </EntryPage>
    );
  return (
    <EntryPage title={text.title}>
      <p>{text.lead}</p>
      <form
        className="entry-form"
        aria-busy={busy}
        onSubmit={(event) => {
          event.preventDefault();
          void alone(submit);
        }}
      >
        {kind === 'setup' && (
          <Field
            label="E-mail"
            type="email"
            autoComplete="username"
            value={email}
            onText={setEmail}
            required
            autoFocus
          />
        )}
        {kind !== 'reset' && (
          <Field
            label="Your name, as others will see it"
            autoComplete="name"
            value={name}
            onText={setName}
            maxLength={120}
            autoFocus={kind === 'join'}
          />
        )}
        <Field
          label="Password"
          type="password"
          autoComplete="new-password"
          minLength={LEAST}
          hint={`At least ${LEAST} characters. A sentence is a good password.`}
          value={password}
          onText={setPassword}
          required
          autoFocus={kind === 'reset'}
        />
        <Trouble of={said} />
        <div className="entry-actions">
          <button type="submit" className="button strong">
            {BUTTON[kind]}
          </button>
          {isClosed && <a href="/login">Log in instead</a>}
        </div>
      </form>
    </EntryPage>
  );
}
