import { secretIn } from './scan.ts';

/** A person allows one secret: its place, in the form of `FoundSecret.path`, and the reason (W13). */
export type AllowedSecret = { path: string; reason: string };

export type FoundSecret = {
  /**
   * RFC 6901 JSON Pointer from the body's root: `/details`, `/details/env/AWS_KEY`, `/details/steps/0/run`. A key that is
   * itself a credential is written `*`, because a place must never tell the value: `/details/env/*`.
   */
  path: string;
  kind: string;
};

/** `allowed` holds paths as a set: an agent may name thousands. */
type Search = { trail: (string | number)[]; allowed: ReadonlySet<string> };

const SECRET_KEY = '*';

/** The first credential in `details` that nobody has let through (W13). Depth is bounded by the parser (W11). */
export function findSecret(details: unknown, allowed: readonly AllowedSecret[]): FoundSecret | null {
  return search(details, '', { trail: ['details'], allowed: new Set(allowed.map(({ path }) => path)) });
}

function search(value: unknown, label: string, state: Search): FoundSecret | null {
  if (typeof value === 'string') return judge(secretIn(value, label), state);
  if (typeof value !== 'object' || value === null) return null;
  return Array.isArray(value)
    ? searchItems(value, label, state)
    : searchMembers(value as Record<string, unknown>, state);
}

function judge(kind: string | null, { trail, allowed }: Search): FoundSecret | null {
  if (kind === null) return null;
  const path = trail.map(toStep).join('');
  return allowed.has(path) ? null : { path, kind };
}

function toStep(step: string | number): string {
  return `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function searchItems(items: readonly unknown[], label: string, state: Search): FoundSecret | null {
  for (let i = 0; i < items.length; i++) {
    state.trail.push(i);
    const found = search(items[i], label, state);
    if (found !== null) return found;
    state.trail.pop();
  }
  return null;
}

function searchMembers(object: Record<string, unknown>, state: Search): FoundSecret | null {
  for (const key of Object.keys(object)) {
    const kind = secretIn(key, '');
    state.trail.push(kind === null ? key : SECRET_KEY);
    const found = judge(kind, state) ?? search(object[key], labelOf(object, key), state);
    if (found !== null) return found;
    state.trail.pop();
  }
  return null;
}

/** What a value is called: its key; or its neighbour's text in lists of `{name, value}`, as containers are configured. */
function labelOf(object: Record<string, unknown>, key: string): string {
  if (key === 'value' && typeof object.name === 'string') return object.name;
  return key === 'private_key' && object.type === 'service_account' ? 'service_account' : key;
}
