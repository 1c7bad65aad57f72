import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { desk } from '../api/desk.ts';
import { settingsQuery } from '../api/questions.ts';
import { calmly, isRefused, isSilence } from '../api/refused.ts';
import { words } from '../composer/words.ts';
import { leaveTo } from '../entry/enter.ts';
import { Field } from '../entry/Field.tsx';
import { Said } from '../frame/Said.tsx';
import { Trouble } from '../frame/Trouble.tsx';
import { useAlone } from '../frame/use-alone.ts';
import { useWork } from '../frame/use-work.ts';
import { useNow } from '../live/now.ts';
import { span, timeAndDay } from '../words/time.ts';
import { Passkeys } from './Passkeys.tsx';
import { Tokens, TokensThatGoOn } from './Tokens.tsx';

export function Security() {
  const { data } = useQuery(settingsQuery);
  return (
    <>
      <Leave />
      <Sessions />
      <Passkeys />
      <Password />
      <Tokens />
      {data !== undefined && (
        <section className="part" aria-label="Retention">
          <h2>Retention</h2>
          <p className="said">
            What has been answered is kept for {span(data.retention_days * 86_400)}, then deleted. The ledger
            keeps that it was there.
          </p>
        </section>
      )}
    </>
  );
}

/** Only the server can end a session: until it has, the next person at this browser would still be logged in. */
function Leave() {
  const [said, setSaid] = useState('');
  const { busy, alone } = useAlone(() => setSaid(''));
  const leave = async () => {
    await words.flush();
    try {
      await desk.logout();
    } catch (error) {
      if (!isRefused(error) || error.status !== 401)
        return setSaid(`You are still logged in. ${calmly(error)}`);
    }
    leaveTo('/login');
  };
  return (
    <>
      <p>
        <button type="button" className="button" aria-busy={busy} onClick={() => void alone(leave)}>
          Log out
        </button>
      </p>
      <Trouble of={said} />
    </>
  );
}

function Sessions() {
  const { data, error } = useQuery({ queryKey: ['sessions'], queryFn: desk.sessions });
  const { said, run, busy } = useWork(['sessions']);
  const now = useNow();
  const end = (work: () => Promise<unknown>, done: string, name?: string) =>
    void run(async () => {
      await work();
      return done;
    }, name);
  return (
    <section className="part" aria-label="Where you are logged in" aria-busy={busy}>
      <h2>Where you are logged in</h2>
      <Trouble of={error} />
      <ul className="lines">
        {data?.sessions.map((session) => (
          <li key={session.session_id}>
            <span>{session.device ?? 'An unknown browser'}</span>
            <span className="said">since {timeAndDay(session.created_at, now)}</span>
            {session.current ? (
              <span className="said">this browser</span>
            ) : (
              <button
                type="button"
                className="plain"
                onClick={() =>
                  end(
                    () => desk.endSession(session.session_id),
                    'That session has ended.',
                    session.session_id,
                  )
                }
              >
                End it
              </button>
            )}
          </li>
        ))}
      </ul>
      {data?.sessions.some((session) => !session.current) && (
        <button
          type="button"
          className="button"
          onClick={() => end(desk.endOtherSessions, 'You are logged in here and nowhere else.')}
        >
          Log out everywhere else
        </button>
      )}
      <Said>{said}</Said>
    </section>
  );
}

const MAYBE_CHANGED =
  'The server did not answer. Try again; if the one you have is refused now, the new one is already in force.';

function Password() {
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const [said, setSaid] = useState('');
  const [isChanged, setChanged] = useState(false);
  const { busy, alone } = useAlone(() => setSaid(''));
  const change = async () => {
    try {
      await desk.changePassword({ current, password });
      setCurrent('');
      setPassword('');
      setChanged(true);
      setSaid('The password is changed. Your other sessions have ended.');
    } catch (error) {
      setSaid(isSilence(error) ? MAYBE_CHANGED : calmly(error));
    }
  };
  return (
    <section className="part" aria-label="Password">
      <h2>Password</h2>
      <form
        className="form"
        aria-busy={busy}
        onSubmit={(event) => {
          event.preventDefault();
          void alone(change);
        }}
      >
        <Field
          label="The one you have"
          type="password"
          autoComplete="current-password"
          value={current}
          onText={setCurrent}
          required
        />
        <Field
          label="The new one"
          type="password"
          autoComplete="new-password"
          minLength={8}
          value={password}
          onText={setPassword}
          required
        />
        <button type="submit" className="button">
          Change it
        </button>
        <Said>{said}</Said>
      </form>
      {isChanged && <TokensThatGoOn />}
    </section>
  );
}
