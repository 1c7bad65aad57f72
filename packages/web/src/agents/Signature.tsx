import { useQuery } from '@tanstack/react-query';
import { desk } from '../api/desk.ts';
import type { CardView } from '../api/task-types.ts';
import { Said } from '../frame/Said.tsx';
import { Sure } from '../frame/Sure.tsx';
import { useWork } from '../frame/use-work.ts';
import { useNow } from '../live/now.ts';
import { timeAndDay } from '../words/time.ts';

/** Who signs the card, and with which key. */
export function Signature({ view, isOwner }: { view: CardView; isOwner: boolean }) {
  const { data } = useQuery({ queryKey: ['agents', 'signing'], queryFn: desk.signingKeys });
  const { said, run } = useWork(['agents']);
  const now = useNow();
  const [used] = view.signed_with;
  const key = data?.keys.find((one) => one.key_id === used);
  const before = data?.keys.find((one) => one.retired_at !== null);
  const rotate = () =>
    run(async () => {
      await desk.rotateSigning();
      return 'A new key signs from now on.';
    });
  return (
    <div className="signature">
      <p className="said">
        {used === undefined ? (
          'This card is not signed.'
        ) : (
          <>
            Signed with <span className="mono">{used}</span>
            {key === undefined ? '' : `, which signs since ${timeAndDay(key.created_at, now)}`}. Its public
            half is at <a href="/.well-known/jwks.json">/.well-known/jwks.json</a>
            {before === undefined || before.retired_at === null
              ? ''
              : `, beside the one that ended ${timeAndDay(before.retired_at, now)}`}
            .
          </>
        )}
      </p>
      {isOwner && (
        <Sure
          word="Make a new signing key"
          question="All cards and pushes of this server are signed with the new key at once; the last one stays published for a while."
          onSure={() => void rotate()}
        />
      )}
      <Said>{said}</Said>
    </div>
  );
}
