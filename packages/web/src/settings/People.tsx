import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { desk } from '../api/desk.ts';
import { asking, sessionQuery } from '../api/questions.ts';
import type { Person, Role } from '../api/types.ts';
import { Text } from '../detail/Text.tsx';
import { Once } from '../frame/Once.tsx';
import { Said } from '../frame/Said.tsx';
import { Sure } from '../frame/Sure.tsx';
import { Trouble } from '../frame/Trouble.tsx';
import { useWork } from '../frame/use-work.ts';
import { Invitations } from './Invitations.tsx';

export const ROLES: Record<Role, string> = {
  owner: 'owner: also agents, keys and people',
  decider: 'decider: decides',
  reader: 'reader: reads',
};

export function People() {
  const { data, error } = useQuery({ queryKey: ['people'], queryFn: desk.people });
  const { data: session } = useQuery(sessionQuery);
  const { said, run, busy } = useWork(['people']);
  const [reset, setReset] = useState<{ name: string; link: string } | null>(null);
  const isOwner = session?.person.role === 'owner';
  return (
    <>
      <Trouble of={error} />
      <ul className="lines people" aria-busy={busy}>
        {data?.people.map((person) => (
          <li key={person.person_id}>
            <span>
              <b>
                <Text>{person.name}</Text>
              </b>
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
      <Said>{said}</Said>
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
  run: ReturnType<typeof useWork>['run'];
  onReset: (link: string) => void;
}) {
  const { person_id: id, name } = person;
  const [chosen, setChosen] = useState<Role | null>(null);
  const setRole = async (role: Role) => {
    setChosen(role);
    await run(async () => {
      await desk.setRole(id, role);
      await asking.refetchQueries({ queryKey: ['people'], exact: true });
      return `${name} is now ${role}.`;
    }, `${id} ${role}`);
    setChosen((last) => (last === role ? null : last));
  };
  const reset = () =>
    run(async () => {
      onReset((await desk.resetPerson(id)).link);
      return `${name} comes back by the link alone.`;
    }, id);
  const remove = () =>
    run(async () => {
      await desk.removePerson(id);
      return `${name} is no longer here.`;
    }, id);
  return (
    <span className="form-line">
      <select
        className="input"
        aria-label={`Role of ${name}`}
        // Shows the chosen role until the server has answered.
        value={chosen ?? person.role}
        onChange={(event) => void setRole(event.target.value as Role)}
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
          question={`${name} is logged out everywhere; password and passkeys end.`}
          onSure={() => void reset()}
        />
      )}
      {!isSelf && (
        <Sure word="Remove" question={`${name} is logged out everywhere.`} onSure={() => void remove()} />
      )}
    </span>
  );
}
