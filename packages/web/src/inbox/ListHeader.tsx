import { useQuery } from '@tanstack/react-query';
import { overviewQuery } from '../api/questions.ts';
import type { Overview } from '../api/types.ts';
import { useNow } from '../live/now.ts';
import { guessMinutes, lastWords, needWords, restWords } from '../words/header.ts';
import type { ListState } from './list-state.ts';
import { useList } from './use-list.ts';

/** The desk in two sentences. */
export function ListHeader() {
  const state = useList();
  const { data } = useQuery(overviewQuery);
  const counts = data?.sections ?? countShown(state);
  const minutes = data?.minutes ?? guessMinutes(counts.needs_you || counts.new_agents);
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

/** Counts what is loaded here, until the server's numbers arrive. */
function countShown(state: ListState): Overview['sections'] {
  const counts = { needs_you: 0, alerts: 0, new_agents: 0, to_read: 0, snoozed: 0 };
  for (const { id } of state.entries) {
    const row = state.rows[id];
    if (row !== undefined && row.section !== 'earlier' && row.state === 'pending') counts[row.section]++;
  }
  return counts;
}
