import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { desk } from '../api/desk.ts';
import type { Role } from '../api/types.ts';
import { Field } from '../entry/Field.tsx';
import { Once } from '../frame/Once.tsx';
import { Trouble } from '../frame/Trouble.tsx';
import { useWork } from '../frame/use-work.ts';
import { useNow } from '../live/now.ts';
import { timeAndDay } from '../words/time.ts';

/** Invitations are links. The server sends no mail: the owner passes the link on in whatever way they trust. */
export function Invitations() {
  const { data, error } = useQuery({ queryKey: ['people', 'invitations'], queryFn: desk.invitations });
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('decider');
  const [made, setMade] = useState<Awaited<ReturnType<typeof desk.invite>> | null>(null);
  const now = useNow();
  const { said, run, busy } = useWork(['people', 'invitations']);
  const invite = () =>
    run(async () => {
      setMade(await desk.invite({ email, role }));
      setEmail('');
      return '';
    });
  const drop = (id: string) =>
    run(async () => {
      await desk.dropInvitation(id);
      setMade((last) => (last?.invitation_id === id ? null : last));
      return '';
    }, id);
  return (
    <section className="part" aria-label="Invite somebody">
      <h2>Invite somebody</h2>
      {made !== null && (
        <Once text={made.link} called="link">
          The link for {made.email}, this once. It lets one person in.
        </Once>
      )}
      <form
        className="form-line"
        aria-busy={busy}
        onSubmit={(event) => {
          event.preventDefault();
          void invite();
        }}
      >
        <Field label="E-mail" type="email" value={email} onText={setEmail} required />
        <div className="field">
          <label htmlFor="invite-role">As</label>
          <select
            id="invite-role"
            className="input"
            value={role}
            onChange={(event) => setRole(event.target.value as Role)}
          >
            <option value="owner">owner</option>
            <option value="decider">decider</option>
            <option value="reader">reader</option>
          </select>
        </div>
        <button type="submit" className="button">
          Make a link
        </button>
      </form>
      <Trouble of={said} />
      <Trouble of={error} />
      <ul className="lines">
        {data?.invitations.map((invitation) => (
          <li key={invitation.invitation_id}>
            <span>{invitation.email}</span>{' '}
            <span className="said">
              as {invitation.role}
              {invitation.expires_at === null ? '' : `, until ${timeAndDay(invitation.expires_at, now)}`}
            </span>
            <button type="button" className="plain" onClick={() => void drop(invitation.invitation_id)}>
              Take it back
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
