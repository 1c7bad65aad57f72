export type SafeTarget = { href: string; host: string };

const WEB = new Set(['http:', 'https:']);

/**
 * Where a link of an agent really leads. Only absolute web and mail addresses are allowed, since a relative one would
 * point into our own desk. The host is shown as the browser will look it up, so a look-alike shows as punycode.
 */
export function safeTarget(href: string | undefined): SafeTarget | null {
  if (href === undefined || !URL.canParse(href)) return null;
  const url = new URL(href);
  if (url.protocol === 'mailto:') return { href: url.href, host: url.pathname };
  if (!WEB.has(url.protocol)) return null;
  // A user name before the @ serves only to be mistaken for the host.
  url.username = '';
  url.password = '';
  return { href: url.href, host: url.host };
}

export function isWebAddress(text: string): boolean {
  return /^https?:\/\/\S+$/i.test(text) && safeTarget(text) !== null;
}
