import { type Clock, certificateTrouble, LanternError } from '@lanternroom/sdk/wake';

export interface Card {
  readonly agentId: string | null;
  readonly versions: readonly string[];
  /** Which kind of key this is, and how much it may deliver; null when the server does not say. */
  readonly kind: string | null;
  /** How far the server's clock is ahead of ours; null when it does not say. */
  readonly skewMs: number | null;
}

type Place = { readonly url: string; readonly apiKey: string };

const REPLY_MS = 10_000;

/** What the server says about itself and about the key. Not retried: callers want to know how it is now. */
export async function readCard({ url, apiKey }: Place, clock: Pick<Clock, 'now'> = Date): Promise<Card> {
  const base = baseOf(url);
  const reply = await fetch(`${base}/.well-known/wake.json`, {
    headers: { authorization: `Bearer ${apiKey}`, accept: 'application/json' },
    redirect: 'manual',
    signal: AbortSignal.timeout(REPLY_MS),
  }).catch((cause: unknown) => {
    const silence = `Nothing answers at ${base}: ${startIt(base)}`;
    throw new LanternError('unreachable', certificateTrouble(base, cause) ?? silence, { cause });
  });
  if (reply.status === 401 || reply.status === 403) {
    throw new LanternError(
      'unauthorized',
      `${base} does not accept this key: ask for a new one ("lanternroom agent rotate NAME").`,
    );
  }
  const body: unknown = await reply.json().catch(() => null);
  if (reply.status !== 200 || typeof body !== 'object' || body === null || !('versions' in body)) {
    throw new LanternError('bad_reply', `${base} is no WAKE server (${reply.status}): check the address.`);
  }
  const versions = Array.isArray(body.versions) ? body.versions.map(String) : [];
  const agentId = 'agent_id' in body && typeof body.agent_id === 'string' ? body.agent_id : null;
  const at = Date.parse(reply.headers.get('date') ?? '');
  return { agentId, versions, kind: kindOf(body), skewMs: Number.isNaN(at) ? null : at - clock.now() };
}

function kindOf(card: object): string | null {
  const { tier, limits } = card as {
    tier?: unknown;
    limits?: { deliveries?: Record<string, unknown> } | null;
  };
  if (typeof tier !== 'string') return null;
  const { per_hour: perHour, burst } = Object(limits?.deliveries?.[tier]) as Record<string, unknown>;
  const isKnown = typeof perHour === 'number' && typeof burst === 'number';
  return `${tier} key${isKnown ? `: ${perHour} deliveries an hour, ${burst} at once` : ''}`;
}

export async function whoIs(place: Place, clock?: Pick<Clock, 'now'>): Promise<string> {
  const { agentId } = await readCard(place, clock);
  if (agentId !== null) return agentId;
  throw new LanternError(
    'bad_reply',
    'The server does not say which agent this key belongs to: check the address.',
  );
}

/** The address of the server itself, where the one of WAKE was given. */
export function baseOf(url: string): string {
  return url.replace(/\/+$/, '').replace(/\/wake\/v1$/, '');
}

function startIt(base: string): string {
  const { hostname } = new URL(base);
  return /^(localhost|127\.|\[::1\])/.test(hostname)
    ? 'start it there ("npm start" in its folder, or "lanternroom serve"), or give another address.'
    : 'check the address, the network, and that the server runs.';
}
