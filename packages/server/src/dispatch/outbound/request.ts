import { isLoopbackHost } from '../../core/agents/allowlist.ts';
import { entry, ShortMemory } from '../../core/maps.ts';

export type OutboundRequest = {
  /** Already judged by the allowlist where one applies; what can be judged here is judged again. */
  url: string;
  method: 'POST' | 'GET';
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array | null;
  /** Test keys only (W21). Holds for hosts that are written as loopback, never for names that resolve to it. */
  allowLoopback: boolean;
  /** How much of the reply is read; 64 KiB unless said otherwise. */
  maxReplyBytes?: number;
  signal?: AbortSignal;
};

/** Where a request goes, read from its address. */
export type Target = { protocol: string; origin: string; hostname: string; path: string };

/** A request that is fit to be sent, and what is left to check: the address. */
export type SendableRequest = {
  target: Target;
  headers: Record<string, string>;
  /** The host is written as loopback and may be. */
  loopback: boolean;
};

// The connection's own headers are ours; cookies and proxies do not exist here.
const FORBIDDEN_HEADER =
  /^(host|connection|keep-alive|upgrade|te|trailer|transfer-encoding|content-length|expect|cookie2?|proxy-.*)$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// Visible Latin-1, space and tab: neither CR nor LF nor any other control character.
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Null when it must not be sent. */
export function prepareRequest(request: OutboundRequest): SendableRequest | null {
  const target = entry(targets, request.url, () => readTarget(request.url));
  if (target === null) return null;
  const loopback = request.allowLoopback && isLoopbackHost(target.hostname);
  if (target.protocol !== 'https:' && !(target.protocol === 'http:' && loopback)) return null;
  if (request.method === 'GET' && request.body !== null) return null;
  const headers = prepareHeaders(request.headers);
  return headers === null ? null : { target, headers, loopback };
}

/** Most requests go where others went before. */
const targets = new ShortMemory<string, Target | null>(1_000);

function readTarget(text: string): Target | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.username !== '' || url.password !== '') return null;
  const { protocol, origin, hostname, pathname, search } = url;
  return { protocol, origin, hostname, path: pathname + search };
}

function prepareHeaders(given: Readonly<Record<string, string>>): Record<string, string> | null {
  // Replies are never decoded, so a compressed one is of no use and could be a bomb.
  const headers: Record<string, string> = { 'accept-encoding': 'identity', 'user-agent': 'Lanternroom' };
  for (const [name, value] of Object.entries(given)) {
    const lower = name.toLowerCase();
    if (!HEADER_NAME.test(name) || FORBIDDEN_HEADER.test(lower) || !HEADER_VALUE.test(value)) return null;
    headers[lower] = value;
  }
  return headers;
}
