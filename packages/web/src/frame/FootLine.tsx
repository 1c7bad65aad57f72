import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { overviewQuery } from '../api/questions.ts';
import { foot, type Held, type Notice, undoneFirst } from '../composer/held.ts';
import { undoAnswer } from '../composer/send.ts';
import { Text } from '../detail/Text.tsx';
import { Key } from '../keys/Key.tsx';
import { useKeys } from '../keys/use-keys.ts';
import { useSeconds } from '../live/now.ts';
import { VERDICT_WORDS } from '../words/delivery.ts';
import { countdown } from '../words/time.ts';
import { KeepClear } from './KeepClear.tsx';

/** Decisions that can still be undone, and notices of what did not work. */
export function FootLine() {
  const state = useSyncExternalStore(foot.subscribe, foot.get);
  const { held: all, notices } = state;
  const { data } = useQuery(overviewQuery);
  useEffect(() => {
    if (data?.held !== undefined) foot.adopt(data.held);
  }, [data]);
  const { id: openId } = useParams({ strict: false });
  const held = all.filter(({ isLeaving }) => !isLeaving);
  const last = held.at(-1);
  const place = useRef<HTMLDivElement>(null);
  const newest = undoneFirst(state);
  const takeBack = (notice: Notice) => {
    foot.close(notice.id);
    notice.undo?.();
  };
  const undoLast = last && (() => void undoAnswer(last.id));
  useKeys({ undo: newest === undefined ? undoLast : () => takeBack(newest) });
  return (
    <div className="foot" role="status" ref={place}>
      {held.length + notices.length > 0 && <KeepClear of={place} />}
      {held.slice(-3).map((one) => (
        <HeldLine key={one.id} held={one} isLast={one === last && newest === undefined} />
      ))}
      {notices.map((notice) => (
        <div key={notice.id} className="foot-line appears">
          <p>
            <Words notice={notice} />{' '}
            {notice.delivery !== undefined && notice.delivery !== openId && (
              <Link to="/d/$id" params={{ id: notice.delivery }} onClick={() => foot.close(notice.id)}>
                Go back to it
              </Link>
            )}
          </p>
          {notice.undo !== undefined && (
            <button type="button" className="button" onClick={() => takeBack(notice)}>
              Undo {notice === newest && <Key of="undo" />}
            </button>
          )}
          <button type="button" className="plain" onClick={() => foot.close(notice.id)}>
            Close
          </button>
        </div>
      ))}
    </div>
  );
}

/** The agent's headline in the agent's face, also here: it must not pass for words of ours. */
function Words({ notice: { text, headline } }: { notice: Notice }) {
  if (headline === undefined) return <Text>{text}</Text>;
  const at = text.indexOf(`“${headline}”`) + 1;
  return (
    <>
      <Text>{text.slice(0, at)}</Text>
      <span className="agent">
        <Text>{headline}</Text>
      </span>
      <Text>{text.slice(at + headline.length)}</Text>
    </>
  );
}

function HeldLine({ held, isLast }: { held: Held; isLast: boolean }) {
  const now = useSeconds();
  const left = Math.max(0, Math.ceil((held.endsAt - now) / 1000));
  return (
    <div className="foot-line appears" data-verdict={held.verdict}>
      <p>
        {VERDICT_WORDS[held.verdict]} —{' '}
        <span aria-hidden="true">
          {left > 0
            ? `goes out in ${countdown(left)}.`
            : held.isSure
              ? 'going out now.'
              : 'the server has not said yet that it has it.'}
        </span>
        <span className="foot-headline agent">
          <Text>{held.headline}</Text>
        </span>
      </p>
      {left > 0 && (
        <button type="button" className="button" onClick={() => void undoAnswer(held.id)}>
          Undo {isLast && <Key of="undo" />}
        </button>
      )}
    </div>
  );
}
