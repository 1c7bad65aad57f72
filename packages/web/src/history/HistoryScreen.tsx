import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { desk, type HistoryFilter } from '../api/desk.ts';
import { deliveryQuery } from '../api/questions.ts';
import { calmly } from '../api/refused.ts';
import type { HistoryEntry } from '../api/types.ts';
import { Changes } from '../composer/Changes.tsx';
import { Happened } from '../detail/Happened.tsx';
import { Text } from '../detail/Text.tsx';
import { AgentOptions } from '../frame/AgentOptions.tsx';
import { PageList, usePages } from '../frame/Pages.tsx';
import { Screen } from '../frame/Screen.tsx';
import { useNow } from '../live/now.ts';
import { VERDICT_WORDS } from '../words/delivery.ts';
import { between, clock, day } from '../words/time.ts';
import '../detail/detail.css';
import './history.css';

/** What was decided, newest first. */
export function HistoryScreen() {
  const filter = useSearch({ strict: false }) as HistoryFilter;
  const { agent } = filter;
  const navigate = useNavigate();
  const history = usePages({
    key: ['history', filter],
    ask: (cursor) => desk.history({ ...filter, cursor }),
    items: (page) => page.decisions,
  });
  const isFiltered = Object.keys(filter).length > 0;
  const part = partWords(filter, useNow());
  return (
    <Screen
      title="History"
      lead={
        <>
          Every decision, with what was before and after. The ledger behind it is the{' '}
          <Link to="/audit">audit</Link>.
        </>
      }
    >
      <label className="history-filter">
        <span className="said">Of</span>
        <select
          className="input"
          value={agent ?? ''}
          onChange={(event) =>
            void navigate({
              to: '/history',
              search: (event.target.value === '' ? {} : { agent: event.target.value }) as never,
            })
          }
        >
          <option value="">every agent</option>
          <AgentOptions chosen={agent} />
        </select>
      </label>
      {part !== null && (
        <p className="said">
          {part} <Link to="/history">Show all</Link>
        </p>
      )}
      <PageList
        pages={history}
        empty={
          isFiltered ? (
            <>
              No decision matches. <Link to="/history">Show all</Link>
            </>
          ) : (
            'Nothing has been decided yet. The first decision will appear here.'
          )
        }
        more="Earlier decisions"
      >
        <Days entries={history.all} />
      </PageList>
    </Screen>
  );
}

/** Says which part of the history is shown, when a number on another screen led here. */
function partWords({ status, from, to }: HistoryFilter, now: number): string | null {
  if (status === undefined && from === undefined && to === undefined) return null;
  return `Only what was ${status ?? 'decided'}${between(from, to, now)}.`;
}

function Days({ entries }: { entries: readonly HistoryEntry[] }) {
  const now = useNow();
  const days = new Map<string, HistoryEntry[]>();
  for (const entry of entries) {
    const name = day(entry.decided_at, now);
    days.set(name, [...(days.get(name) ?? []), entry]);
  }
  return [...days].map(([name, inside]) => (
    <section key={name} className="history-day" aria-label={name}>
      <h2>{name.charAt(0).toUpperCase() + name.slice(1)}</h2>
      <ul>
        {inside.map((entry) => (
          <li key={nameOf(entry)}>
            <Entry entry={entry} />
          </li>
        ))}
      </ul>
    </section>
  ));
}

/** The entries that are open, for whoever comes back from a delivery that one of them led to. */
const opened = new Set<string>();

const nameOf = ({ delivery_id, decided_at }: HistoryEntry) => `${delivery_id}${decided_at}`;

function Entry({ entry }: { entry: HistoryEntry }) {
  const name = nameOf(entry);
  const [open, setOpen] = useState(() => opened.has(name));
  const turn = (isOpen: boolean) => {
    setOpen(isOpen);
    if (isOpen) opened.add(name);
    else opened.delete(name);
  };
  return (
    <details
      className="history-entry"
      data-verdict={entry.status}
      data-undone={entry.state === 'undone' || undefined}
      open={open}
      onToggle={(event) => turn(event.currentTarget.open)}
    >
      <summary>
        <time dateTime={entry.decided_at}>{clock(entry.decided_at)}</time>
        <span>
          <span className="history-headline agent">
            <Text>{entry.headline ?? 'A delivery that is no longer kept'}</Text>
          </span>
          <span className="said dotted">
            <span>
              <b className="history-verdict">{VERDICT_WORDS[entry.status]}</b>
              {entry.state === 'undone'
                ? ', then taken back'
                : entry.state === 'held'
                  ? ', not sent yet'
                  : ''}{' '}
              by <Text>{entry.decided_by.name ?? 'somebody'}</Text>
            </span>
            <span>
              <Text>{entry.agent_id}</Text>
            </span>
          </span>
          {entry.feedback !== null && <span className="history-feedback">{entry.feedback}</span>}
        </span>
      </summary>
      {open && <Inside entry={entry} />}
    </details>
  );
}

/** Before and after, the receipt, and the callbacks; loaded when the entry is opened. */
function Inside({ entry }: { entry: HistoryEntry }) {
  const { data, error } = useQuery(deliveryQuery(entry.delivery_id));
  if (error !== null) return <p className="said">{calmly(error)}</p>;
  if (data === undefined) return <p className="said">One moment…</p>;
  return (
    <div className="history-inside">
      {entry.edited_content !== null && (
        <section aria-label="Before and after">
          <h3 className="said">Before and after</h3>
          <Changes
            before={data.details}
            after={entry.edited_content}
            empty="It was sent back without a change."
          />
        </section>
      )}
      <p className="said">
        Receipt: decided on the content with the hash <span className="mono">{entry.content_sha256}</span>.{' '}
        <Link to="/d/$id" params={{ id: entry.delivery_id }}>
          Open the delivery
        </Link>
      </p>
      <Happened detail={data} />
    </div>
  );
}
