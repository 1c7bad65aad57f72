import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { sessionQuery } from '../api/questions.ts';
import type { Detail } from '../api/types.ts';
import { useMayDecide } from '../api/use-may-decide.ts';
import { undoAnswer } from '../composer/send.ts';
import { snooze } from '../inbox/triage.ts';
import { Key } from '../keys/Key.tsx';
import { useNow, useSeconds } from '../live/now.ts';
import { isAsleep, isOfTask, VERDICT_WORDS } from '../words/delivery.ts';
import { countdown, moment, secondsUntil, timeAndDay } from '../words/time.ts';
import { heldByOther } from './held-by.ts';
import { Text } from './Text.tsx';

/** The state of a delivery that is no longer waiting. */
export function StateLine({ detail }: { detail: Detail }) {
  const now = useNow();
  const { decision } = detail;
  if (detail.state === 'held') return <HeldState detail={detail} />;
  if (detail.state === 'pending' && isAsleep(detail, now))
    return <AsleepState detail={detail} until={moment(detail.snoozed_until, now)} />;
  if (detail.state === 'withdrawn')
    return (
      <p className="state-line">
        {isOfTask(detail) ? 'The task has gone on without an answer' : 'The agent has withdrawn this'}
        {detail.withdrawn_at === null ? '' : `, at ${timeAndDay(detail.withdrawn_at, now)}`}. There is nothing
        to decide.
      </p>
    );
  if (detail.state === 'superseded') {
    return (
      <p className="state-line">
        <span>A newer revision has taken its place.</span>
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
        <span>
          {VERDICT_WORDS[decision.status]} by <Text>{decision.decided_by.name ?? 'somebody'}</Text> at{' '}
          {timeAndDay(decision.decided_at, now)}.
        </span>
      </p>
    );
  }
  return null;
}

function AsleepState({ detail, until }: { detail: Detail; until: string }) {
  const mayDecide = useMayDecide();
  return (
    <p className="state-line">
      <span>Out of sight until {until}.</span>
      {mayDecide && (
        <button type="button" className="button" onClick={() => void snooze([detail], null)}>
          Bring it back now
        </button>
      )}
    </p>
  );
}

function HeldState({ detail }: { detail: Detail }) {
  const now = useSeconds();
  const mayDecide = useMayDecide();
  const { data: session } = useQuery(sessionQuery);
  const other = heldByOther(detail, session);
  const verdict = detail.held_status ?? undefined;
  const word = verdict === undefined ? 'Answered' : VERDICT_WORDS[verdict];
  const left = detail.effect_at === null ? 0 : secondsUntil(detail.effect_at, now);
  return (
    <div className="state-line" data-verdict={verdict}>
      <span>
        {word}
        {other !== null && (
          <>
            {' by '}
            <Text>{other}</Text>
          </>
        )}{' '}
        — {left > 0 ? `goes out in ${countdown(left)}.` : 'going out now.'}
      </span>
      {left > 0 && mayDecide && (
        <button type="button" className="button" onClick={() => void undoAnswer(detail.delivery_id)}>
          Undo {other === null && <Key of="undo" />}
        </button>
      )}
    </div>
  );
}
