import { LanternError } from '../faults.ts';

/** The server's address, once it is known to be safe to send a key there. */
export interface Endpoint {
  /** Without a slash at the end, and without `/wake/v1` or `/akep/events`. */
  readonly base: string;
}

/**
 * Reads a base URL (with or without `/wake/v1`) and refuses one that would carry the key in the clear: https
 * only, except loopback with a test key (W23).
 *
 * @example
 * readEndpoint('http://127.0.0.1:8787', 'wk_test_abc'); // { base: 'http://127.0.0.1:8787' }
 */
export function readEndpoint(url: string, apiKey: string): Endpoint {
  assertKey(apiKey);
  const parsed = parseAlone(url);
  if (parsed.protocol !== 'https:') assertPlainIsSafe(parsed, apiKey);
  return { base: baseOf(parsed) };
}

/**
 * The same for a producer, which sends no key but a signature: https only, except on this machine.
 *
 * @example
 * readProducerEndpoint('https://desk.example.com/akep/events'); // { base: 'https://desk.example.com' }
 */
export function readProducerEndpoint(url: string): Endpoint {
  const parsed = parseAlone(url);
  if (parsed.protocol !== 'https:') assertLoopback(parsed);
  return { base: baseOf(parsed) };
}

function baseOf(url: URL): string {
  return url.origin + url.pathname.replace(/\/+$/, '').replace(/\/(wake\/v1|akep|akep\/events)$/, '');
}

function parseAlone(url: string): URL {
  const parsed = parse(url);
  // A key in the address would end up in logs and proxies; a query would be lost when paths are appended.
  if (parsed.username || parsed.password || parsed.search || parsed.hash) {
    throw new LanternError('wrong_usage', 'Give the server address alone, without a login, "?" or "#" part.');
  }
  return parsed;
}

/** The other secrets that a newcomer has in hand, by how they begin. */
const NO_KEYS: Readonly<Record<string, string>> = {
  lr_: 'the token of a person',
  ct_: 'the token of a caller',
  whsec_: 'a secret for signatures',
};

function assertKey(apiKey: string): void {
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new LanternError(
      'wrong_usage',
      'The API key is missing or holds spaces or line breaks: set WAKE_API_KEY to the key as it was shown once.',
    );
  }
  const other = Object.entries(NO_KEYS).find(([start]) => apiKey.startsWith(start));
  if (other === undefined) return;
  const message = `This is ${other[1]} (${other[0]}…) and not the key of an agent: set WAKE_API_KEY to one that begins with wk_ ("lanternroom agent key NAME" makes one).`;
  throw new LanternError('wrong_usage', message);
}

function parse(url: string): URL {
  // `localhost:8787` and `C:\x` parse as URLs too, with an unknown scheme and no host.
  if (URL.canParse(url) && new URL(url).host !== '') return new URL(url);
  const message = 'The server address is not a URL: give it as https://host, or http://127.0.0.1:8787.';
  throw new LanternError('wrong_usage', message);
}

function assertLoopback(url: URL): void {
  if (url.protocol === 'http:' && isLoopback(url.hostname)) return;
  const message = `What is sent would travel unprotected to ${url.host}: use an https:// address.`;
  throw new LanternError('insecure_url', message);
}

function assertPlainIsSafe(url: URL, apiKey: string): void {
  assertLoopback(url);
  if (!apiKey.startsWith('wk_test_')) {
    const message =
      'Plain http on this machine is for test keys only: use a wk_test_ key, or an https:// address.';
    throw new LanternError('insecure_url', message);
  }
}

// `new URL` has already turned 127.1 and 0x7f000001 into dotted form, so the text can be judged.
function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
