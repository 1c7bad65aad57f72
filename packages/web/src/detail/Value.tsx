import { isNumber } from '../api/exact-json.ts';
import type { Json, JsonObject } from '../api/types.ts';
import { Each } from '../frame/Each.tsx';
import { inWords } from '../words/numbers.ts';
import { Code, looksLikeDiff } from './Code.tsx';
import { isWebAddress } from './link.ts';
import { Markdown } from './Markdown.tsx';
import { More, useBeginning } from './More.tsx';
import { SafeLink } from './SafeLink.tsx';
import { glanceAt, isObject, isProse, keyLabel, partCount, tableKeys } from './shape.ts';
import { Table } from './Table.tsx';
import { Text } from './Text.tsx';

type Props = { value: Json; delivery: string; depth?: number };

/** Any JSON in readable form. Nested parts can be folded; deep ones start folded. */
export function Value({ value, delivery, depth = 0 }: Props) {
  if (value === null) return <span className="quiet">nothing</span>;
  if (typeof value === 'boolean') return <span>{value ? 'yes' : 'no'}</span>;
  if (isNumber(value)) return <span className="number">{String(value)}</span>;
  if (typeof value === 'string') return <Words text={value} delivery={delivery} />;
  if (partCount(value) === 0) return <span className="quiet">empty</span>;
  const inside = Array.isArray(value) ? (
    <Items items={value} delivery={delivery} depth={depth} />
  ) : (
    <Pairs object={value} delivery={delivery} depth={depth} />
  );
  return depth === 0 ? (
    inside
  ) : (
    <Fold value={value} isOpen={depth < 2 && partCount(value) <= 12}>
      {inside}
    </Fold>
  );
}

function Words({ text, delivery }: { text: string; delivery: string }) {
  if (text === '') return <span className="quiet">empty text</span>;
  if (looksLikeDiff(text)) return <Code text={text} language="diff" />;
  if (isWebAddress(text))
    return (
      <SafeLink href={text}>
        <Text>{text}</Text>
      </SafeLink>
    );
  return isProse(text) ? <Markdown text={text} delivery={delivery} /> : <Text>{text}</Text>;
}

/** How many entries are drawn at first: an object of one mebibyte can have tens of thousands. */
const FIRST = 100;

function Pairs({ object, delivery, depth }: { object: JsonObject; delivery: string; depth: number }) {
  const { shown, left, more } = useBeginning(Object.entries(object), FIRST);
  return (
    <>
      <dl className="pairs">
        {shown.map(([key, value]) => (
          <div key={key} className={isWide(value) ? 'pair tall' : 'pair'}>
            <dt title={key}>
              <Text>{keyLabel(key)}</Text>
            </dt>
            <dd>
              <Value value={value} delivery={delivery} depth={depth + 1} />
            </dd>
          </div>
        ))}
      </dl>
      <More left={left} of="entries" onMore={more} />
    </>
  );
}

function isWide(value: Json): boolean {
  if (typeof value === 'string') return isProse(value);
  if (partCount(value) === 0) return false;
  return Array.isArray(value) ? value.some((item) => isObject(item) || Array.isArray(item)) : isObject(value);
}

function Items({ items, delivery, depth }: { items: Json[]; delivery: string; depth: number }) {
  const keys = tableKeys(items);
  const { shown, left, more } = useBeginning(items, FIRST);
  if (keys !== null) return <Table keys={keys} rows={items as JsonObject[]} />;
  return (
    <>
      <ul className="items">
        <Each of={shown}>
          {(item) => (
            <li>
              <Value value={item} delivery={delivery} depth={depth + 1} />
            </li>
          )}
        </Each>
      </ul>
      <More left={left} of="entries" onMore={more} />
    </>
  );
}

function Fold({ value, isOpen, children }: { value: Json; isOpen: boolean; children: React.ReactNode }) {
  const count = partCount(value);
  const glance = glanceAt(value);
  return (
    <details className="fold" open={isOpen}>
      <summary>
        {inWords(count)} {count === 1 ? 'part' : 'parts'}
        {glance !== '' && (
          <span className="glance agent">
            <Text>{glance}</Text>
          </span>
        )}
      </summary>
      {children}
    </details>
  );
}
