import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { desk } from '../api/desk.ts';
import { asking, sessionQuery } from '../api/questions.ts';
import { calmly } from '../api/refused.ts';
import type { Person, Role } from '../api/types.ts';
import { Once } from '../frame/Once.tsx';
import { Sure } from '../frame/Sure.tsx';
import { Trouble } from '../frame/Trouble.tsx';
import { Invitations } from './Invitations.tsx';

export const ROLES: Record<Role, string> = {
  owner: 'owner: also agents, keys and people',
  decider: 'decider: decides',
  reader: 'reader: reads',
};

export function People() {
  const { data, error } = useQuery({ queryKey: ['people'], queryFn: desk.people });
  const { data: session } = useQuery(sessionQuery);
  const [said, setSaid] = useState('');
  const [reset, setReset] = useState<{ name: string; link: string } | null>(null);
  const isOwner = session?.person.role === 'owner';
  const run = async (work: () => Promise<unknown>, done: string) => {
    try {
      await work();
      setSaid(done);
      void asking.invalidateQueries({ queryKey: ['people'] });
    } catch (error) {
      setSaid(calmly(error));
    }
  };
  return (
    <>
      <Trouble of={error} />
      <ul className="lines people">
        {data?.people.map((person) => (
          <li key={person.person_id}>
            <span>
              <b>{person.name}</b>
              {person.person_id === session?.person.person_id ? ', you' : ''}
              <br />
              <span className="said">{person.email}</span>
            </span>
            {isOwner ? (
              <OwnerChoices
                person={person}
                isSelf={person.person_id === session?.person.person_id}
                run={run}
                onReset={(link) => setReset({ name: person.name, link })}
              />
            ) : (
              <span className="said">{person.role}</span>
            )}
          </li>
        ))}
      </ul>
      {reset !== null && (
        <Once text={reset.link} called="link">
          The link by which {reset.name} chooses a new password, this once. It works for a day; everything
          before it has ended.
        </Once>
      )}
      <p className="said" role="status">
        {said}
      </p>
      {isOwner ? <Invitations /> : <p className="said">Owners invite people and give roles.</p>}
    </>
  );
}

function OwnerChoices({
  person,
  isSelf,
  run,
  onReset,
}: {
  person: Person;
  isSelf: boolean;
  run: (work: () => Promise<unknown>, done: string) => void;
  onReset: (link: string) => void;
}) {
  return (
    <span className="form-line">
      <select
        className="input"
        aria-label={`Role of ${person.name}`}
        value={person.role}
        onChange={(event) =>
          run(
            () => desk.setRole(person.person_id, event.target.value as Role),
            `${person.name} is now ${event.target.value}.`,
          )
        }
      >
        {Object.entries(ROLES).map(([role, words]) => (
          <option key={role} value={role}>
            {words}
          </option>
        ))}
      </select>
      {!isSelf && (
        <Sure
          word="Reset"
          question={`${person.name} is logged out everywhere; password and passkeys end.`}
          onSure={() =>
            run(
              async () => onReset((await desk.resetPerson(person.person_id)).link),
              `${person.name} comes back by the link alone.`,
            )
          }
        />
      )}
      {!isSelf && (
        <Sure
          word="Remove"
          question={`${person.name} is logged out everywhere.`}
          onSure={() => run(() => desk.removePerson(person.person_id), `${person.name} is no longer here.`)}
        />
      )}
    </span>
  );
}
