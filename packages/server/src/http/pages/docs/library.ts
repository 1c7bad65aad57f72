import { type Heading, headingsOf } from './markdown.ts';

/** One document: a file in `docs/`, by its name without the ending. */
export type Document = {
  name: string;
  title: string;
  /** Its first sentence, in markdown. */
  summary: string;
  text: string;
  /** What its page is divided into. */
  parts: readonly Heading[];
};

export type Shelf = { title: string; documents: readonly Document[] };

/** This one is made from the routes. */
export const OPERATIONS = 'operations';

const OPERATIONS_TEXT = '# Operations\n\nEvery address that is served, and what it does.';

/** In the order in which people need them. A document that stands nowhere is put at the end, and fails a test. */
const SHELVES: readonly (readonly [title: string, ...names: string[]])[] = [
  ['Begin', 'wake', 'akep', 'a2a'],
  ['Connect what you have', 'hooks', 'adapters', 'mcp'],
  ['Run it', 'configuration', 'operating', 'reliability', 'performance', 'sharding'],
  ['Look it up', OPERATIONS, 'desk-api', 'errors', 'states', 'conformance'],
];

export const NAMED: readonly string[] = SHELVES.flatMap(([, ...names]) => names);

/** The documents, sorted into shelves. */
export class Library {
  readonly shelves: readonly Shelf[];
  readonly #byName: ReadonlyMap<string, Document>;

  constructor(texts: ReadonlyMap<string, string>) {
    const all = [...texts, [OPERATIONS, OPERATIONS_TEXT] as const];
    this.#byName = new Map(all.map(([name, text]) => [name, toDocument(name, text)]));
    const others = [...texts.keys()].filter((name) => !NAMED.includes(name));
    this.shelves = [...SHELVES, ['More', ...others] as const]
      .map(([title, ...names]) => ({ title, documents: names.flatMap((name) => this.get(name) ?? []) }))
      .filter(({ documents }) => documents.length > 0);
  }

  get(name: string): Document | undefined {
    return this.#byName.get(name);
  }
}

function toDocument(name: string, text: string): Document {
  const title = /^# +(.*)$/m.exec(text)?.[1] ?? name;
  const parts = headingsOf(text).filter(({ level }) => level === 2);
  return { name, title, summary: firstSentence(text), text, parts };
}

function firstSentence(text: string): string {
  const paragraph = text.split(/\n{2,}/).find((part) => /^[\w`*[]/.test(part)) ?? '';
  const [sentence = ''] = /^[\s\S]*?[.:](?=\s|$)/.exec(paragraph) ?? [paragraph];
  return sentence.replace(/:$/, '.');
}
