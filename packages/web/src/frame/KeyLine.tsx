import { useNow } from '../live/now.ts';
import { timeAndDay } from '../words/time.ts';
import { Sure } from './Sure.tsx';

type Props = {
  name: string;
  said: string;
  record: { revoked_at: string | null; expires_at: string | null };
  /** Asks for confirmation, and says what happens to those who use the key. */
  question: string;
  /** Null if the person may not revoke it. */
  onRevoke: (() => void) | null;
};

/** A key, with the time when it expires or was revoked, if any. */
export function KeyLine({ name, said, record, question, onRevoke }: Props) {
  const now = useNow();
  const { revoked_at, expires_at } = record;
  const isOver = revoked_at !== null || (expires_at !== null && Date.parse(expires_at) < now);
  return (
    <li data-over={isOver || undefined}>
      <span className="mono">{name}</span>
      <span className="said">{said}</span>
      {revoked_at !== null && <span className="said">revoked {timeAndDay(revoked_at, now)}</span>}
      {revoked_at === null && expires_at !== null && (
        <span className="said">until {timeAndDay(expires_at, now)}</span>
      )}
      {onRevoke !== null && !isOver && <Sure word="Revoke" question={question} onSure={onRevoke} />}
    </li>
  );
}
