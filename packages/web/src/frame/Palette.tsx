import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { agentNamesQuery } from '../api/questions.ts';
import { Text } from '../detail/Text.tsx';
import { list } from '../inbox/list-store.ts';
import { Dialog } from './Dialog.tsx';

type Entry = {
  key: string;
  word: string;
  /** The word is the agent's own, and must not pass for one of ours. */
  isAgents?: boolean;
  said: string;
  run: () => void;
};
const MOST = 9;

/** One field that finds screens, agents and deliveries. */
export function Palette({ onClose, onKeys }: { onClose: () => void; onKeys: () => void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const id = useId();
  const near = useEntries(onKeys)
    .filter((entry) => matches(`${entry.word} ${entry.said}`, text))
    .slice(0, MOST);
  const search = useSearchEntry(text);
  const found = search === null ? near : [...near, search];
  const chosen = found[Math.min(at, found.length - 1)];
  const run = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    onClose();
    entry.run();
  };
  return (
    <Dialog title="Find anything" onClose={onClose} className="palette">
      <input
        className="input"
        role="combobox"
        aria-label="Find anything"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={chosen === undefined ? undefined : `${id}-${chosen.key}`}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') setAt(Math.min(at + 1, found.length - 1));
          else if (event.key === 'ArrowUp') setAt(Math.max(at - 1, 0));
          else if (event.key === 'Enter') run(chosen);
          else return;
          event.preventDefault();
        }}
      />
      <div id={id} role="listbox" aria-label="Found" className="choices">
        {found.map((entry) => (
          // biome-ignore lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: the field handles the keys
          <div
            key={entry.key}
            id={`${id}-${entry.key}`}
            role="option"
            aria-selected={entry === chosen}
            className="choice"
            onClick={() => run(entry)}
          >
            <span className={entry.isAgents === true ? 'agent' : undefined}>
              <Text>{entry.word}</Text>
            </span>{' '}
            <span className="said">
              <Text>{entry.said}</Text>
            </span>
          </div>
        ))}
      </div>
    </Dialog>
  );
}

/** The last entry, and the only one when no name matches: searches all deliveries for the words. */
function useSearchEntry(text: string): Entry | null {
  const navigate = useNavigate();
  const q = text.trim();
  if (q === '') return null;
  const run = () => void navigate({ to: '/', search: { q } as never });
  return { key: 'search', word: `Search for “${q}”`, said: 'all deliveries', run };
}

const PLACES: [string, string][] = [
  ['Inbox', '/'],
  ['Sit', '/sit'],
  ['History', '/history'],
  ['Audit', '/audit'],
  ['Agents', '/agents'],
  ['Tasks', '/tasks'],
  ['Events', '/events'],
  ['Insights', '/insights'],
  ['Settings', '/settings'],
  ['Settings: reading', '/settings/reading'],
  ['Settings: keys', '/settings/keys'],
  ['Settings: people', '/settings/people'],
  ['Settings: security', '/settings/security'],
  ['Settings: system', '/settings/system'],
];

function useEntries(onKeys: () => void): Entry[] {
  const navigate = useNavigate();
  const { data } = useQuery(agentNamesQuery);
  const go = (to: string) => () => void navigate({ to });
  const rows = Object.values(list.get().rows);
  return [
    ...PLACES.map(([word, to]) => ({ key: to, word, said: 'place', run: go(to) })),
    { key: 'keys', word: 'All keys', said: 'help', run: onKeys },
    { key: 'refresh', word: 'Show what is new', said: 'inbox', run: () => void list.settle() },
    ...(data?.names ?? []).map((name) => ({
      key: `a-${name}`,
      word: name,
      said: 'agent',
      run: go(`/agents/${encodeURIComponent(name)}`),
    })),
    ...rows.map((row) => ({
      key: row.delivery_id,
      word: row.headline,
      isAgents: true,
      said: row.agent_id,
      run: go(`/d/${row.delivery_id}`),
    })),
  ];
}

function matches(where: string, text: string): boolean {
  const low = where.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => low.includes(word));
}
