import { Link } from '@tanstack/react-router';
import type { Detail } from '../api/types.ts';
import { undoAnswer } from '../composer/send.ts';
import { Key } from '../keys/Key.tsx';
import { useNow, useSeconds } from '../live/now.ts';
import { VERDICT_WORDS } from '../words/delivery.ts';
import { secondsUntil, timeAndDay } from '../words/time.ts';
import { Text } from './Text.tsx';

/** Where it stands, when it no longer waits. */
export function StateLine({ detail }: { detail: Detail }) {
  const now = useNow();
  const { decision } = detail;
  if (detail.state === 'held') return <HeldState detail={detail} />;
  if (detail.state === 'withdrawn')
    return (
      <p className="state-line">
        The agent has withdrawn this
        {detail.withdrawn_at === null ? '' : `, at ${timeAndDay(detail.withdrawn_at, now)}`}. There is nothing
        to decide.
      </p>
    );
  if (detail.state === 'superseded') {
    return (
      <p className="state-line">
        A newer revision has taken its place.{' '}
        {detail.superseded_by !== null && (
          <Link to="/d/$id" params={{ id: detail.superseded_by }}>
            Open it
          </Link>
        )}
      </p>
    );
  }
  if (detail.state === 'decided' && decision !== null) {
    return (
      <p className="state-line" data-verdict={decision.status}>
        {VERDICT_WORDS[decision.status]} by <Text>{decision.decided_by.name ?? 'somebody'}</Text> at{' '}
        {timeAndDay(decision.decided_at, now)}.
      </p>
    );
  }
  return null;
}

function HeldState({ detail }: { detail: Detail }) {
  const now = useSeconds();
  const verdict = detail.held_status ?? undefined;
  const word = verdict === undefined ? 'Answered' : VERDICT_WORDS[verdict];
  const left = detail.effect_at === null ? 0 : secondsUntil(detail.effect_at, now);
  return (
    <div className="state-line" data-verdict={verdict}>
      <span>
        {word} — {left > 0 ? `goes out in ${left} s.` : 'going out now.'}
      </span>
      {left > 0 && (
        <button type="button" className="button" onClick={() => void undoAnswer(detail.delivery_id)}>
          Undo <Key of="undo" />
        </button>
      )}
    </div>
  );
}
