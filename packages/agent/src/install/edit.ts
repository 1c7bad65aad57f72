import { isDeepStrictEqual } from 'node:util';
import { applyEdits, modify, parse } from 'jsonc-parser';
import type { HostName } from '../hook/hosts.ts';
import { UsageError } from '../world.ts';
import { cutOut } from './cut.ts';
import { type Groups, groupsIn, readJson } from './read.ts';
import { eventOf, isOurs } from './targets.ts';

type Path = (string | number)[];

/** The text with our entry in it; everything else, comments included, is unchanged. */
export function withHook(text: string, file: string, host: HostName, entry: Record<string, unknown>): string {
  const event = eventOf(host);
  const groups = groupsIn(readJson(text, file), event, file);
  const [first, ...others] = find(groups, host);
  const handler = (entry.hooks as readonly unknown[])[0];
  if (first === undefined) {
    const start = text.trim() === '' ? '{}\n' : text;
    return checked(text, insert(start, ['hooks', event, groups.length], entry), { host, file, ours: 1 });
  }
  // It was installed twice, or by an older version: one entry stays, in its current form.
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
  // From the end, so that the earlier paths stay valid.
  return [...paths].reverse().reduce((left, path) => prune(left, path), text);
}

/** Removes a value, and whatever becomes empty because of it. */
function prune(text: string, path: Path): string {
  const parent = path.slice(0, -1);
  const holder = valueAt(text, parent);
  const size = Array.isArray(holder) ? holder.length : Object.keys(Object(holder)).length;
  // A group may carry a matcher; without a hook in it, it does nothing.
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

/** In the formatting that the file already has. */
function formattingOf(text: string) {
  const isTabbed = /^\t/m.test(text);
  const tabSize = /^( +)\S/m.exec(text)?.[1]?.length ?? 2;
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  return { insertSpaces: !isTabbed, tabSize, eol };
}

interface Wanted {
  readonly host: HostName;
  readonly file: string;
  /** How often our entry must be there. */
  readonly ours: 0 | 1;
}

/**
 * This is somebody's configuration: if anything but our entry would read differently, it is not written. Nor if our
 * entry would not take effect: of a name that occurs twice, the host reads the last and an edit changes the first.
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
