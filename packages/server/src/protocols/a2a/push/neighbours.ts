import { asPublished } from '../../../http/sockets/broken.ts';
import type { AgentParams } from '../door.ts';

/** The agent of ours that an address names, or null (A19). */
export function localTarget(baseUrl: string, url: string): AgentParams | null {
  if (!URL.canParse(url) || !URL.canParse(baseUrl)) return null;
  const target = new URL(url);
  const base = new URL(baseUrl);
  const path = asPublished(target.pathname);
  const root = base.pathname.replace(/\/$/, '');
  if (addressOf(target) !== addressOf(base) || !path.startsWith(`${root}/@`)) return null;
  const m = /^\/@([^/]+)\/([^/]+)\/?$/.exec(path.slice(root.length));
  if (m === null) return null;
  try {
    return { handle: decodeURIComponent(m[1] ?? ''), agent: decodeURIComponent(m[2] ?? '') };
  } catch {
    return null; // escapes that mean nothing name nobody
  }
}

/** A laptop calls itself by either name. */
function addressOf({ origin }: URL): string {
  return origin.replace(/\/\/localhost(?=:|$)/, '//127.0.0.1');
}
