import { stringifyExact } from '../api/exact-json.ts';
import type { Json, JsonObject } from '../api/types.ts';
import { Each } from '../frame/Each.tsx';
import { Code } from './Code.tsx';
import { Markdown } from './Markdown.tsx';
import { RemoteImage } from './RemoteImage.tsx';
import { SafeLink } from './SafeLink.tsx';
import { type Block, blocksOf, isObject, tableKeys, tableRows } from './shape.ts';
import { Table } from './Table.tsx';
import { Text } from './Text.tsx';
import { Value } from './Value.tsx';

/** What the agent sent besides headline and summary, in the agent's voice. */
export function Details({ details, delivery }: { details: Json; delivery: string }) {
  if (details === null) return <p className="said">No details were sent.</p>;
  if (typeof details === 'string') return <Markdown text={details} delivery={delivery} />;
  const blocks = isObject(details) ? blocksOf(details) : null;
  if (blocks === null) return <Value value={details} delivery={delivery} />;
  const { blocks: _, ...rest } = details as JsonObject;
  return (
    <div className="blocks">
      <Each of={blocks}>{(block) => <OneBlock block={block} delivery={delivery} />}</Each>
      {Object.keys(rest).length > 0 && <Value value={rest} delivery={delivery} />}
    </div>
  );
}

const text = (block: Block, ...names: string[]) => {
  for (const name of names) if (typeof block[name] === 'string') return block[name];
  return '';
};

function OneBlock({ block, delivery }: { block: Block; delivery: string }) {
  switch (block.type) {
    case 'markdown':
    case 'text':
      return <Markdown text={text(block, 'text', 'markdown', 'content')} delivery={delivery} />;
    case 'code':
      return <Code text={text(block, 'code', 'text', 'content')} language={text(block, 'language')} />;
    case 'diff':
      return <Code text={text(block, 'diff', 'text', 'content')} language="diff" />;
    case 'table':
      return <TableBlock block={block} delivery={delivery} />;
    case 'image':
      return (
        <RemoteImage delivery={delivery} src={text(block, 'src', 'url')} alt={text(block, 'alt', 'title')} />
      );
    case 'link':
    case 'file':
      return (
        <p>
          <SafeLink href={text(block, 'url', 'href')}>
            <Text>{text(block, 'title', 'name', 'text', 'url')}</Text>
          </SafeLink>
        </p>
      );
    case 'quote':
      return (
        <blockquote>
          <Markdown text={text(block, 'text', 'quote', 'content')} delivery={delivery} />
        </blockquote>
      );
    default:
      return (
        <Code
          text={stringifyExact(block.json ?? block.data ?? block.value ?? block.content ?? block, 2)}
          language="json"
        />
      );
  }
}

function TableBlock({ block, delivery }: { block: Block; delivery: string }) {
  const rows = tableRows(block);
  const keys = tableKeys(rows);
  return keys === null ? (
    <Value value={rows as Json[]} delivery={delivery} />
  ) : (
    <Table keys={keys} rows={rows as JsonObject[]} />
  );
}
