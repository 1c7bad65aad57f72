import { isDeepStrictEqual } from 'node:util';
import { applyEdits, modify, parse } from 'jsonc-parser';
import type { HostName } from '../hook/hosts.ts';
import { UsageError } from '../world.ts';
import { cutOut } from './cut.ts';
import { type Groups, groupsIn, readJson } from './read.ts';
import { eventOf, isOurs } from './targets.ts';

type Path = (string | number)[];

/** The text with our entry in it, and everything else, comments included, as it was. */
export function withHook(text: string, file: string, host: HostName, entry: Record<string, unknown>): string {
  const event = eventOf(host);
  const groups = groupsIn(readJson(text, file), event, file);
  const [first, ...others] = find(groups, host);
  const handler = (entry.hooks as readonly unknown[])[0];
  if (first === undefined) {
    const start = text.trim() === '' ? '{}\n' : text;
    return checked(text, insert(start, ['hooks', event, groups.length], entry), { host, file, ours: 1 });
  }
  // Installed twice, or by an older version: one entry stays, as it should be now.
  const single = without(text, others);
  const isSame = isDeepStrictEqual(valueAt(single, first), handler);
  return checked(text, isSame ? single : replace(single, first, handler), { host, file, ours: 1 });
}

/** The text without our entry, and without what only held it. */
export function withoutHook(text: string, file: string, host: HostName): string {
  const groups = groupsIn(readJson(text, file), eventOf(host), file);
  return checked(text, without(text, find(groups, host)), { host, file, ours: 0 });
}

function find(groups: Groups, host: HostName): Path[] {
  return groups.flatMap(({ hooks = [] }, group) =>
    hooks.flatMap((hook, at): Path[] =>
      isOurs(hook, host) ? [['hooks', eventOf(host), group, 'hooks', at]] : [],
    ),
  );
}

function without(text: string, paths: readonly Path[]): string {
  // From the end, so that the places in front stay what they were.
  return [...paths].reverse().reduce((left, path) => prune(left, path), text);
}

/** Takes a value out, and whatever is empty because of it. */
function prune(text: string, path: Path): string {
  const parent = path.slice(0, -1);
  const holder = valueAt(text, parent);
  const size = Array.isArray(holder) ? holder.length : Object.keys(Object(holder)).length;
  // A group may carry a matcher; without a single hook in it, it does nothing.
  const isGroup = parent.at(-1) === 'hooks' && parent.length > 1;
  if (size === 1 && parent.length > 0) return prune(text, isGroup ? parent.slice(0, -1) : parent);
  return cutOut(text, path);
}

/** Puts a value into an array, in front of what stands at that place. */
function insert(text: string, path: Path, value: unknown): string {
  const options = { isArrayInsertion: true, formattingOptions: formattingOf(text) };
  return applyEdits(text, modify(text, path, value, options));
}

function replace(text: string, path: Path, value: unknown): string {
  return applyEdits(text, modify(text, path, value, { formattingOptions: formattingOf(text) }));
}

/** As whoever wrote the file does it. */
function formattingOf(text: string) {
  const isTabbed = /^\t/m.test(text);
  const tabSize = /^( +)\S/m.exec(text)?.[1]?.length ?? 2;
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  return { insertSpaces: !isTabbed, tabSize, eol };
}

interface Wanted {
  readonly host: HostName;
  readonly file: string;
  /** How often our entry is to be there. */
  readonly ours: 0 | 1;
}

/**
 * Somebody's configuration: what does not read the same but for our entry is not written. Nor what reads as if our entry
 * were where we did not put it: of a name that is there twice the host takes the last one, and an edit the first.
 */
function checked(before: string, after: string, { host, file, ours }: Wanted): string {
  const rest = (text: string) => stripped(readJson(text, file), host);
  const found = find(groupsIn(readJson(after, file), eventOf(host), file), host).length;
  if (found === ours && isDeepStrictEqual(rest(before), rest(after))) return after;
  throw new UsageError(
    `${file} could not be changed without changing more: edit it by hand. Nothing was changed.`,
  );
}

function stripped(value: unknown, host: HostName): unknown {
  const { hooks, ...rest } = Object(value) as { hooks?: Record<string, Groups> };
  const event = eventOf(host);
  const groups = (hooks?.[event] ?? []).map((group) => ({
    ...group,
    hooks: group.hooks?.filter((hook) => !isOurs(hook, host)),
  }));
  const kept = groups.filter((group) => (group.hooks?.length ?? 0) > 0);
  const others = Object.entries(hooks ?? {}).filter(([name]) => name !== event);
  return { rest, kept, others };
}

function valueAt(text: string, path: Path): unknown {
  return path.reduce<unknown>((value, key) => Reflect.get(Object(value), key), parse(text));
}
