import { type RefObject, useEffect, useRef, useState } from 'react';
import type { Filter } from '../api/desk.ts';
import { SECTIONS } from '../api/types.ts';
import { AgentOptions } from '../frame/AgentOptions.tsx';
import { useNow } from '../live/now.ts';
import { SECTION_WORDS, TYPE_WORDS } from '../words/delivery.ts';
import { between } from '../words/time.ts';
import { useList } from './use-list.ts';

const TYPING_MS = 250;
/** A sign alone, such as the quotation mark before the first word, is not a search yet. */
const HAS_WORD = /[\p{L}\p{N}]/u;
type Props = {
  filter: Filter;
  onFilter: (filter: Filter) => void;
  search: RefObject<HTMLInputElement | null>;
  isOpen: boolean;
  onToggle: () => void;
  /** Enter in the search field: the person wants to go to the results. */
  onFound: () => void;
};

/** Search and filters. Their state is in the address bar, so that a view can be bookmarked and shared. */
export function FilterBar({ filter, onFilter, search, isOpen, onToggle, onFound }: Props) {
  const isFiltered =
    filter.agent !== undefined ||
    filter.type !== undefined ||
    filter.section !== undefined ||
    filter.from !== undefined ||
    filter.to !== undefined;
  return (
    <search className="filter-bar">
      <div className="filter-line">
        <SearchField filter={filter} onFilter={onFilter} onFound={onFound} field={search} />
        <button type="button" className="plain" aria-expanded={isOpen || isFiltered} onClick={onToggle}>
          {isFiltered ? 'Filtered' : 'Filter'}
        </button>
      </div>
      {(isOpen || isFiltered) && <Choices filter={filter} onFilter={onFilter} />}
    </search>
  );
}

function SearchField({
  filter,
  onFilter,
  onFound,
  field,
}: Pick<Props, 'filter' | 'onFilter' | 'onFound'> & { field: Props['search'] }) {
  const [text, setText] = useState(filter.q ?? '');
  const asked = useRef(filter.q);
  // Something else, such as Back, has changed the address: the field follows.
  useEffect(() => {
    if (filter.q === asked.current) return;
    asked.current = filter.q;
    setText(filter.q ?? '');
  }, [filter.q]);
  const wanted = HAS_WORD.test(text) ? text.trim() : undefined;
  const [isEntered, setEntered] = useState(false);
  useEffect(() => {
    if (wanted === asked.current) return;
    const ask = () => {
      asked.current = wanted;
      onFilter({ ...filter, q: wanted });
    };
    const timer = setTimeout(ask, isEntered ? 0 : TYPING_MS);
    return () => clearTimeout(timer);
  }, [wanted, isEntered, filter, onFilter]);
  const { phase, filter: shown } = useList();
  useEffect(() => {
    if (!isEntered || phase === 'loading' || shown.q !== wanted) return;
    setEntered(false);
    onFound();
  }, [isEntered, phase, shown.q, wanted, onFound]);
  return (
    <input
      ref={field}
      type="search"
      className="input search"
      placeholder="Search whole words"
      aria-label="Search headlines, summaries, details and your own words"
      value={text}
      onChange={(event) => {
        setText(event.target.value);
        setEntered(false);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && !event.nativeEvent.isComposing) setEntered(true);
      }}
    />
  );
}

function Choices({ filter, onFilter }: Pick<Props, 'filter' | 'onFilter'>) {
  const time = between(filter.from, filter.to, useNow());
  const choose = (name: keyof Filter) => (event: { target: { value: string } }) =>
    onFilter({ ...filter, [name]: event.target.value === '' ? undefined : event.target.value });
  return (
    <div className="filter-choices">
      <select
        id="filter-section"
        className="input"
        aria-label="Section"
        value={filter.section ?? ''}
        onChange={choose('section')}
      >
        <option value="">Every section</option>
        {SECTIONS.map((section) => (
          <option key={section} value={section}>
            {SECTION_WORDS[section]}
          </option>
        ))}
      </select>
      <select className="input" aria-label="Type" value={filter.type ?? ''} onChange={choose('type')}>
        <option value="">Every type</option>
        {Object.entries(TYPE_WORDS).map(([type, word]) => (
          <option key={type} value={type}>
            {word}
          </option>
        ))}
      </select>
      <select className="input" aria-label="Agent" value={filter.agent ?? ''} onChange={choose('agent')}>
        <option value="">Every agent</option>
        <AgentOptions chosen={filter.agent} />
      </select>
      <button type="button" className="plain" onClick={() => onFilter({ q: filter.q })}>
        Clear
      </button>
      {time !== '' && <p className="said">Only what arrived{time}.</p>}
    </div>
  );
}
