import { Link } from '@tanstack/react-router';
import type { Detail, Row } from '../api/types.ts';
import { isIrreversible } from '../inbox/bulk.ts';
import { useNow } from '../live/now.ts';
import { silenceWords, TYPE_WORDS } from '../words/delivery.ts';
import { timeAndDay } from '../words/time.ts';
import { Text } from './Text.tsx';
import { ThreadItem } from './Thread.tsx';

/**
 * The system's voice. Nothing here is in the agent's words, except its name. While the rest is still on its way, what
 * the list knows stands here, so that nothing below moves when it comes.
 */
export function Strip({ detail: row }: { detail: Row | Detail }) {
  const now = useNow();
  const silence = silenceWords(row, now);
  const detail: Row & Partial<Detail> = row;
  const isFinal = row.irreversible || ('details' in row && isIrreversible(row));
  return (
    <section className="strip" aria-label="About this delivery" data-type={detail.type}>
      <ul className="dotted">
        <li>
          <Link to="/agents/$id" params={{ id: detail.agent_id }}>
            <Text>{detail.agent_id}</Text>
          </Link>
          , {detail.tier} key
        </li>
        <li className="strip-type">{TYPE_WORDS[detail.type]}</li>
        <li>received {timeAndDay(detail.created_at, now)}</li>
        {detail.revision > 1 && <li>revision {detail.revision}</li>}
        {detail.thread_id !== null && <ThreadItem row={row} place={detail.thread ?? null} />}
        {detail.task_id !== null && (
          <li>
            task{' '}
            <span className="mono">
              {detail.a2a_task == null ? (
                <Text>{detail.task_id}</Text>
              ) : (
                <Link to="/tasks/$id" params={{ id: detail.task_id }}>
                  {detail.task_id}
                </Link>
              )}
            </span>
          </li>
        )}
        {detail.sample === true && <li>a sample</li>}
        <li>
          hash{' '}
          <span className="mono" title={detail.content_sha256}>
            {detail.content_sha256?.slice(0, 12) ?? '…'}
          </span>
        </li>
      </ul>
      {silence !== null && <p>{silence}</p>}
      {isFinal && <p className="strip-warn">The agent says that this cannot be undone.</p>}
      {detail.allow_secrets?.map(({ path, reason }) => (
        <p key={path} className="strip-warn">
          A credential at{' '}
          <span className="mono">
            <Text>{path}</Text>
          </span>{' '}
          was let through. The agent’s reason:{' '}
          <span className="agent">
            <Text>{reason}</Text>
          </span>
        </p>
      ))}
    </section>
  );
}
