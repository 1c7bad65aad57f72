import { Fault } from '../faults.ts';
import { entry, ShortMemory } from '../maps.ts';
import type { Tier } from './key.ts';

/** The callback allowlist (W21): exact origin plus path prefix. Which addresses may be dialled is judged when dialling. */
export type TargetRefusal =
  | 'too_long'
  | 'control_characters'
  | 'not_a_url'
  | 'userinfo'
  | 'fragment'
  | 'path_escapes'
  | 'not_https'
  | 'loopback'
  | 'not_listed'
  | 'not_for_pushes'
  | 'port';
export type EntryRefusal =
  | Exclude<TargetRefusal, 'not_listed' | 'not_for_pushes' | 'port'>
  | 'query'
  | 'wildcard';

export type Refused<Reason> = { allowed: false; reason: Reason; message: string };
/** `url` is the normalised form. Send to this one: another parser may read the original text differently. */
export type TargetVerdict = { allowed: true; url: string } | Refused<TargetRefusal>;
export type EntryVerdict = { allowed: true; origin: string; prefix: string } | Refused<EntryRefusal>;

const MAX_LENGTH = 2048;

const SENTENCES: Record<TargetRefusal | EntryRefusal, string> = {
  too_long: `The address is longer than ${MAX_LENGTH} characters. Use a shorter one.`,
  control_characters:
    'The address contains spaces, control or invisible characters. Remove or percent-encode them.',
  not_a_url: 'This is not a complete address. Write it like https://example.com/hooks.',
  userinfo: 'The address contains a user name or password. Remove everything before the @.',
  fragment: 'The address contains a fragment. Remove the # and what follows.',
  path_escapes: 'The path contains "." or ".." segments in encoded form. Write the path out plainly.',
  not_https: 'The address must begin with https://. Plain http is for loopback targets of test keys only.',
  loopback:
    'Loopback addresses are for test keys only, written as localhost, 127.0.0.1 or [::1]. Use a public https address.',
  not_listed:
    "The address is not on this agent's callback allowlist. Ask its owner to add the origin and path.",
  not_for_pushes:
    "The address is not on this space's list of push targets. Ask its owner to add the origin and path.",
  port: "Leave the port out. Another one than 443 must be on the agent's callback allowlist or the space's list of push targets: ask its owner to add the address.",
  query: 'An allowlist entry is an origin and a path. Remove the ? and what follows.',
  wildcard: 'An allowlist entry names one exact host. Replace the * with the full host name.',
};

function refuse<Reason extends TargetRefusal | EntryRefusal>(reason: Reason): Refused<Reason> {
  return { allowed: false, reason, message: SENTENCES[reason] };
}

/** May an agent with a key of this tier be called back at this address? */
export function judgeTarget(url: string, allowlist: readonly string[], tier: Tier): TargetVerdict {
  const target = readPlain(url);
  if (!(target instanceof URL)) return target;
  const refusal = judgeLoopbackAndScheme(target);
  if (refusal !== null) return refusal;
  if (tier === 'live' && isLoopbackHost(target.hostname)) return refuse('loopback');
  return covers(allowlist, target) ? { allowed: true, url: target.href } : refuse('not_listed');
}

export type PushRule = {
  /** The called agent's allowlist. */
  callbacks: readonly string[];
  /** The space's own list; null when it has none. */
  pushTargets: readonly string[] | null;
  /** The server itself is bound to this machine. */
  mayBeLoopback: boolean;
};

/**
 * May a caller be told about its task at this address (A18)? It is the caller's own address, so it must be on a list
 * only if the space keeps one. Loopback is different: it is allowed only while the server itself is bound to this
 * machine, and only if the agent's own list names it.
 */
export function judgePushTarget(
  url: string,
  { callbacks, pushTargets, mayBeLoopback }: PushRule,
): TargetVerdict {
  const target = readPlain(url);
  if (!(target instanceof URL)) return target;
  const refusal = judgeLoopbackAndScheme(target);
  if (refusal !== null) return refusal;
  if (isLoopbackHost(target.hostname)) {
    if (!mayBeLoopback) return refuse('loopback');
    if (!covers(callbacks, target)) return refuse('not_listed');
  }
  if (pushTargets !== null && !covers(pushTargets, target)) return refuse('not_for_pushes');
  // Anybody who may call could otherwise have us knock at every port of every public host.
  const isListed = pushTargets !== null || covers(callbacks, target);
  return target.port === '' || isListed ? { allowed: true, url: target.href } : refuse('port');
}

/** May this text stand on an allowlist? A loopback entry may: it only ever serves test keys. */
export function judgeEntry(entry: string): EntryVerdict {
  const url = readPlain(entry);
  if (!(url instanceof URL)) return url;
  if (url.hostname.includes('*')) return refuse('wildcard');
  if (entry.includes('?')) return refuse('query');
  const refusal = judgeLoopbackAndScheme(url);
  if (refusal !== null) return refusal;
  return { allowed: true, origin: url.origin, prefix: withoutTrailingSlashes(url.pathname) };
}

/** The spellings of loopback that a test key may use. `hostname` as `new URL()` gives it. */
export function isLoopbackHost(hostname: string): boolean {
  return (
    hostname === 'localhost' || hostname === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
  );
}

// Other spellings that reach this machine. Nobody needs them, so nobody gets them.
const LOOPBACK_ALIAS =
  /(^|\.)localhost\.*$|^0\.0\.0\.0$|^\[::\]$|^\[::(ffff:(0:)?)?7f[0-9a-f]{2}:[0-9a-f]{1,4}\]$/;

export function isLoopbackAlias(hostname: string): boolean {
  return !isLoopbackHost(hostname) && LOOPBACK_ALIAS.test(hostname);
}

function judgeLoopbackAndScheme(url: URL): Refused<'loopback' | 'not_https'> | null {
  const plain = url.protocol === 'http:';
  if (!plain && url.protocol !== 'https:') return refuse('not_https');
  if (isLoopbackAlias(url.hostname)) return refuse('loopback');
  return plain && !isLoopbackHost(url.hostname) ? refuse('not_https') : null;
}

// What `new URL()` would silently repair or drop is judged on the text itself.
const CONTROL_OR_SPACE = /[\p{Cc}\p{Cf}\p{Z}]/u;
const USERINFO = /^[a-z][a-z0-9+.-]*:[\\/]*[^\\/?#]*@/i;

type Plain = URL | Refused<Exclude<EntryRefusal, 'query' | 'wildcard'>>;

/** Lists and targets are judged for every callback, and are nearly always the same as for the one before. */
const known = new ShortMemory<string, Plain>(1_000);

function readPlain(text: string): Plain {
  return text.length > MAX_LENGTH ? refuse('too_long') : entry(known, text, () => readShort(text));
}

function readShort(text: string): Plain {
  if (CONTROL_OR_SPACE.test(text)) return refuse('control_characters');
  if (!URL.canParse(text)) return refuse('not_a_url');
  const url = new URL(text);
  // Percent-encoding can make it three times as long.
  if (url.href.length > MAX_LENGTH) return refuse('too_long');
  if (USERINFO.test(text) || url.username !== '' || url.password !== '') return refuse('userinfo');
  if (text.includes('#')) return refuse('fragment');
  return escapes(url.pathname) ? refuse('path_escapes') : url;
}

const DOT_SEGMENT = /(^|[/\\])\.\.?(;[^/\\]*)?([/\\]|$)/;
const ENCODED: Record<string, string> = { '%2e': '.', '%2f': '/', '%5c': '\\', '%3b': ';', '%25': '%' };

/**
 * `new URL()` has resolved `..` and `%2e%2e`. What is left are forms that only the receiver might decode:
 * `..%2f`, doubly encoded ones, and `..;` of servlet containers.
 */
function escapes(pathname: string): boolean {
  const decoded = pathname.replace(/%(?:2e|2f|5c|3b|25)/gi, (code) => ENCODED[code.toLowerCase()] ?? code);
  if (DOT_SEGMENT.test(decoded)) return true;
  return decoded !== pathname && escapes(decoded);
}

/** A list is parsed once and remembered for as long as it lives: every callback is checked against all of it. */
const readLists = new WeakMap<readonly string[], ReadonlyMap<string, string[]>>();

function prefixesByOrigin(list: readonly string[]): ReadonlyMap<string, string[]> {
  let found = readLists.get(list);
  if (found === undefined) {
    found = readList(list);
    readLists.set(list, found);
  }
  return found;
}

function readList(list: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const verdict of list.map(judgeEntry)) {
    if (!verdict.allowed) continue;
    const known = found.get(verdict.origin);
    if (known === undefined) found.set(verdict.origin, [verdict.prefix]);
    else known.push(verdict.prefix);
  }
  return found;
}

// The origin carries the port, so a port other than the default one must be named by the entry.
function covers(list: readonly string[], { origin, pathname }: URL): boolean {
  const prefixes = prefixesByOrigin(list).get(origin) ?? [];
  return prefixes.some((prefix) => pathname === prefix || pathname.startsWith(`${prefix}/`));
}

function withoutTrailingSlashes(pathname: string): string {
  let end = pathname.length;
  while (end > 0 && pathname[end - 1] === '/') end--;
  return pathname.slice(0, end);
}

/** Every allowlist is checked entry by entry when it is set (D20). */
export function refuseEntries(field: string, entries: readonly string[]): Fault | null {
  for (const entry of entries) {
    const judged = judgeEntry(entry);
    if (!judged.allowed) return new Fault('invalid_field', judged.message, { field });
  }
  return null;
}
