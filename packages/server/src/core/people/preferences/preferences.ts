import type { Micros } from '../../time.ts';
import { nextDigest, type Quiet, type Sitting } from '../sittings/sittings.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export const DENSITIES = ['comfortable', 'compact'] as const;
export const SIZES = ['small', 'normal', 'large'] as const;
export const DIGEST_KINDS = ['off', 'email', 'webhook'] as const;

/** Calm by default: nothing is ever sent until a person asks for it (core rule 10). */
export type Digest = { kind: (typeof DIGEST_KINDS)[number]; target: string | null };

/** What one person has chosen for themselves. */
export type Preferences = {
  theme: (typeof THEMES)[number];
  density: (typeof DENSITIES)[number];
  size: (typeof SIZES)[number];
  /** Action → key, where it differs from what the desk comes with. */
  keys: Readonly<Record<string, string>>;
  keysOff: boolean;
  timeZone: string;
  sittings: readonly Sitting[];
  quiet: Quiet | null;
  digest: Digest;
};

export const DEFAULT_PREFERENCES: Preferences = {
  theme: 'system',
  density: 'comfortable',
  size: 'normal',
  keys: {},
  keysOff: false,
  timeZone: 'UTC',
  sittings: [],
  quiet: null,
  digest: { kind: 'off', target: null },
};

/** When the next digest is due, null when there is none. Stored, so that it survives a restart. */
export function digestAt(preferences: Preferences, after: Micros): Micros | null {
  return preferences.digest.kind === 'off' ? null : nextDigest(preferences, after);
}
