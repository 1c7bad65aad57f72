import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useState, useSyncExternalStore } from 'react';
import { stringifyExact } from '../api/exact-json.ts';
import { sessionQuery } from '../api/questions.ts';
import type { Detail } from '../api/types.ts';
import { Composer } from '../composer/Composer.tsx';
import { undoAnswer } from '../composer/send.ts';
import { useWords } from '../composer/use-words.ts';
import { type Words, words } from '../composer/words.ts';
import { seen } from '../inbox/bulk.ts';
import { Snooze } from '../inbox/SnoozeMenu.tsx';
import { acknowledge } from '../inbox/triage.ts';
import { Key } from '../keys/Key.tsx';
import { useKeys } from '../keys/use-keys.ts';
import { asksForAnswer, isOfTask } from '../words/delivery.ts';
import { Details } from './Details.tsx';
import { ExactBytes } from './ExactBytes.tsx';
import { Happened } from './Happened.tsx';
import { Headline } from './Headline.tsx';
import { heldByOther } from './held-by.ts';
import { Revision } from './Revision.tsx';
import { StateLine } from './StateLine.tsx';
import { Strip } from './Strip.tsx';
import { isObject } from './shape.ts';
import { Thread } from './Thread.tsx';

/** Loaded only for a question that comes from a task, because most deliveries do not. */
const TaskQuestion = lazy(async () => ({
  default: (await import('../tasks/TaskQuestion.tsx')).TaskQuestion,
}));

type Props = { detail: Detail; onSent: (id: string) => void };

/** One delivery, from top to bottom: the system's strip, the agent's words, what happened, and the answer. */
export function Delivery({ detail, onSent }: Props) {
  const [exact, setExact] = useState(false);
  const { data: session } = useQuery(sessionQuery);
  const mayDecide = session?.person.role !== 'reader';
  const isOwnHeld = detail.state === 'held' && heldByOther(detail, session) === null;
  useKeys({
    exact: () => setExact((old) => !old),
    // A decision of somebody else is taken back by its button only: the key means what one has done oneself.
    undo: isOwnHeld && mayDecide ? () => void undoAnswer(detail.delivery_id) : undefined,
    acknowledge: mayDecide && isToAcknowledge(detail) ? () => acknowledgeAndGoOn(detail, onSent) : undefined,
  });
  useEffect(
    () => seen.mark(detail.delivery_id, detail.content_sha256),
    [detail.delivery_id, detail.content_sha256],
  );
  return (
    <>
      <div className="detail-inside">
        <Strip detail={detail} />
        <StateLine detail={detail} />
        <Headline row={detail} />
        {detail.previous !== null && detail.previous !== undefined && (
          <Revision previous={detail.previous} details={detail.details} />
        )}
        <div className="details-line">
          {mayDecide && detail.state === 'pending' && (
            <Snooze rows={[detail]} className="plain" onChosen={() => onSent(detail.delivery_id)} />
          )}
          <button type="button" className="plain" aria-pressed={exact} onClick={() => setExact(!exact)}>
            {exact ? 'Readable' : 'Exact bytes'} <Key of="exact" />
          </button>
        </div>
        {exact ? (
          <ExactBytes detail={detail} />
        ) : (
          <div className="details agent" data-quotable="">
            <Content detail={detail} />
          </div>
        )}
        <Answered detail={detail} />
        {detail.thread != null && <Thread detail={detail} place={detail.thread} />}
        <Happened detail={detail} />
      </div>
      <Foot detail={detail} onSent={onSent} mayDecide={mayDecide} />
    </>
  );
}

function Content({ detail }: { detail: Detail }) {
  const { details } = detail;
  if (detail.a2a_task != null && isObject(details))
    return (
      <Suspense fallback={<p className="said">One moment…</p>}>
        <TaskQuestion detail={detail} details={details} />
      </Suspense>
    );
  return <Details details={details} delivery={detail.delivery_id} />;
}

const isToAcknowledge = ({ type, state, read_at }: Detail) =>
  !asksForAnswer(type) && state === 'pending' && read_at === null;

/** Does the same by key and by button: this one is done, so the next one opens. */
function acknowledgeAndGoOn(detail: Detail, onSent: Props['onSent']): void {
  void acknowledge(detail);
  onSent(detail.delivery_id);
}

function Foot({ detail, onSent, mayDecide }: Props & { mayDecide: boolean }) {
  if (detail.state !== 'pending') return <KeptWords detail={detail} />;
  if (!mayDecide) return <MayOnlyRead detail={detail} />;
  if (asksForAnswer(detail.type)) return <Composer detail={detail} onSent={onSent} />;
  if (!isToAcknowledge(detail)) return null;
  return (
    <div className="composer acknowledge">
      <button
        type="button"
        className="button strong"
        // The second click of a double click would hit the delivery that has opened in its place.
        onClick={(event) => event.detail < 2 && acknowledgeAndGoOn(detail, onSent)}
      >
        {detail.type === 'alert' ? 'Acknowledge' : 'Mark as read'} <Key of="acknowledge" />
      </button>
    </div>
  );
}

const READER = 'You can read here. Deciding needs the role decider; an owner can give it.';

/** Whoever began to write while they could decide keeps their words, also after a reload. */
function MayOnlyRead({ detail }: { detail: Detail }) {
  const said = useWords(detail);
  return hasWords(said) ? (
    <NotSent said={said} why={READER} />
  ) : (
    <p className="composer reader said">{READER}</p>
  );
}

const hasWords = ({ feedback, edited }: Words) => feedback !== '' || edited !== undefined;

/** What came before the person could send their words, if it was not an answer. */
function overWords(detail: Detail): string | null {
  if (detail.state === 'superseded') return 'A newer revision came while you wrote.';
  if (detail.state !== 'withdrawn') return null;
  return isOfTask(detail) ? 'The task went on while you wrote.' : 'The agent withdrew it while you wrote.';
}

/**
 * Shown when it was answered elsewhere, withdrawn or revised while the person was writing: their words stay available,
 * also while the answer of somebody else can still be undone.
 */
function KeptWords({ detail }: { detail: Detail }) {
  const { decision, state, delivery_id: id, draft } = detail;
  const { data: session } = useQuery(sessionQuery);
  const said = useSyncExternalStore(words.subscribe, () => words.get(id));
  const over = overWords(detail);
  const isOthers = decision !== null && decision.decided_by.person_id !== session?.person.person_id;
  const isNotSent = over !== null || isOthers;
  // After a reload too, but not if they answered it themselves: that answer was made from this draft.
  useEffect(() => {
    if (isNotSent && session !== undefined && draft !== null && draft !== undefined) words.adopt(id, draft);
  }, [isNotSent, session, draft, id]);
  const isSent =
    over === null && (decision?.feedback ?? '') === said.feedback && (said.edited === undefined || !isOthers);
  if (!hasWords(said) || isSent) return null;
  // Held without a held decision means that these very words are being sent right now.
  if (state === 'held' && decision?.state !== 'held') return null;
  return <NotSent said={said} why={over ?? 'It was decided while you wrote.'} />;
}

/** It takes the place of the composer while somebody may be writing there, so it is announced. */
function NotSent({ said: { feedback, edited }, why }: { said: Words; why: string }) {
  return (
    <section className="composer kept-words" aria-label="Your words">
      <p className="said" role="alert">
        {why} Your words were not sent; here they are.
      </p>
      {feedback !== '' && (
        <textarea className="input" readOnly value={feedback} aria-label="Your words, not sent" />
      )}
      {edited !== undefined && (
        <textarea
          className="input mono"
          readOnly
          value={typeof edited === 'string' ? edited : stringifyExact(edited, 2)}
          aria-label="Your edit, not sent"
        />
      )}
    </section>
  );
}

function Answered({ detail }: { detail: Detail }) {
  const { decision } = detail;
  if (
    decision === null ||
    decision.state === 'undone' ||
    (decision.feedback === null && decision.edited_content === null)
  )
    return null;
  return (
    <section className="answered" aria-label="The answer">
      <h2>The answer</h2>
      {decision.feedback !== null && <p className="answer-words">{decision.feedback}</p>}
      {decision.edited_content !== null && (
        <>
          <h3 className="said">As it was edited</h3>
          <Details details={decision.edited_content} delivery={detail.delivery_id} />
        </>
      )}
    </section>
  );
}
