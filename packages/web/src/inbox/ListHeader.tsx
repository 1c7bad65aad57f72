import { useQuery } from '@tanstack/react-query';
import { overviewQuery } from '../api/questions.ts';
import type { Overview, Row } from '../api/types.ts';
import { useNow } from '../live/now.ts';
import { minutesLeft } from '../sit/progress.ts';
import { lastWords, needWords, restWords } from '../words/header.ts';
import { useList } from './use-list.ts';

/** The desk in two sentences. */
export function ListHeader() {
  const state = useList();
  const { data } = useQuery(overviewQuery);
  const shown = state.entries.flatMap(({ id }) => state.rows[id] ?? []).filter(isWaiting);
  const counts = data?.sections ?? countIn(shown);
  const minutes = data?.minutes ?? minutesLeft(shown.filter(isForASitting));
  const isKnown = data !== undefined || state.phase === 'ready';
  const now = useNow();
  const isQuiet = counts.needs_you === 0 && counts.new_agents === 0;
  const rest = restWords(counts) || (isQuiet ? lastWords(data?.last_decision_at ?? null, now) : '');
  return (
    <header className="list-header">
      <h1>{isKnown ? <Sentences text={needWords(counts, minutes)} /> : 'The inbox'}</h1>
      <p className="said">{isKnown ? rest : ''}</p>
    </header>
  );
}

/** One line per sentence, so that nothing below moves when the numbers change. */
function Sentences({ text }: { text: string }) {
  return text.split(/(?<=\.) /).map((sentence) => (
    <span key={sentence} className="sentence">
      {sentence}{' '}
    </span>
  ));
}

type Section = keyof Overview['sections'];
type Waiting = Row & { section: Section };

const isWaiting = (row: Row): row is Waiting => row.section !== 'earlier' && row.state === 'pending';

const isForASitting = ({ section }: Waiting) => section === 'needs_you' || section === 'new_agents';

/** Counts what is loaded here, until the server's numbers arrive. */
function countIn(rows: readonly Waiting[]): Overview['sections'] {
  const counts = { needs_you: 0, alerts: 0, new_agents: 0, to_read: 0, snoozed: 0 };
  for (const { section } of rows) counts[section]++;
  return counts;
}
