export type SafeTarget = { href: string; host: string };

const WEB = new Set(['http:', 'https:']);

/**
 * Where a link of an agent really leads. Only absolute web and mail addresses; the host as the browser will dial it,
 * so an odd one shows as punycode. Relative ones would point into our own desk, so they lead nowhere.
 */
export function safeTarget(href: string | undefined): SafeTarget | null {
  if (href === undefined || !URL.canParse(href)) return null;
  const url = new URL(href);
  if (url.protocol === 'mailto:') return { href: url.href, host: url.pathname };
  if (!WEB.has(url.protocol)) return null;
  // A name before an @ only serves to be mistaken for the host.
  url.username = '';
  url.password = '';
  return { href: url.href, host: url.host };
}

export function isWebAddress(text: string): boolean {
  return /^https?:\/\/\S+$/i.test(text) && safeTarget(text) !== null;
}
