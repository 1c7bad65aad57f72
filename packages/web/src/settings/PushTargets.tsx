import { desk } from '../api/desk.ts';
import { Addresses } from '../frame/Addresses.tsx';
import { Sure } from '../frame/Sure.tsx';
import { useWork } from '../frame/use-work.ts';

/** Where callers of this space's agents may have notifications about their tasks sent. */
export function PushTargets({ targets, isOwner }: { targets: string[] | null; isOwner: boolean }) {
  const { said, run, busy } = useWork(['settings']);
  const set = (wanted: string[] | null, word: string) =>
    run(async () => {
      await desk.setPushTargets(wanted);
      return word;
    });
  return (
    <section className="part" aria-label="Push notifications" aria-busy={busy}>
      <h2>Push notifications</h2>
      <p className="said">{pushWords(targets)}</p>
      <Addresses
        of={targets ?? []}
        mayChange={isOwner}
        said={said}
        words={{
          add: targets === null ? 'Only to this address' : 'Another address',
          such: 'https://partner.example.com/hooks',
          removed: 'News of tasks will no longer be sent there.',
        }}
        onSet={set}
      />
      {isOwner && targets !== null && (
        <Sure
          word="Drop the list"
          question="Callers may then choose any public https address."
          onSure={() => void set(null, 'Callers may choose the address.')}
        />
      )}
    </section>
  );
}

function pushWords(targets: string[] | null): string {
  if (targets === null)
    return 'Whoever calls an agent here may have news of the task sent to any public https address. A list restricts that.';
  if (targets.length === 0) return 'News of tasks is sent only to agents on this server.';
  return 'News of tasks may be sent to these, and to what lies below them.';
}
