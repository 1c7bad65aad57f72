import { openText } from '../../deliveries/content/sealed.ts';
import { type Room, record } from '../../room.ts';
import type { Tx } from '../../store.ts';
import type { Micros } from '../../time.ts';
import type { Person } from '../person.ts';
import type { StoredPreferences } from '../store.ts';
import { DEFAULT_PREFERENCES, digestAt, type Preferences } from './preferences.ts';

function targetIdentity(p: Pick<Person, 'space' | 'id'>): string {
  return `digest-target:${p.space}:${p.id}`;
}

export type Chosen = { preferences: Preferences; digestAt: Micros | null };

/** What a person has chosen, with the defaults for everything else. */
export async function preferencesOf(
  room: Room,
  tx: Tx,
  person: Pick<Person, 'space' | 'id'>,
): Promise<Chosen> {
  const stored = await tx.preferences.get(person.id);
  if (stored === null) return { preferences: DEFAULT_PREFERENCES, digestAt: null };
  const settings = JSON.parse(stored.settings) as Omit<Preferences, 'digest'> & { digest: { kind: string } };
  const target = stored.target === null ? null : openText(room, stored.target, targetIdentity(person));
  const preferences = {
    ...DEFAULT_PREFERENCES,
    ...settings,
    digest: { ...settings.digest, target },
  } as Preferences;
  return { preferences, digestAt: stored.digestAt };
}

/** The address of a digest is often a secret itself, so it is sealed and stored apart from the other preferences. */
export function toStored(
  room: Room,
  person: Pick<Person, 'space' | 'id'>,
  preferences: Preferences,
  nextAt: Micros | null,
): StoredPreferences {
  const { kind, target } = preferences.digest;
  return {
    settings: JSON.stringify({ ...preferences, digest: { kind } }),
    target: target === null ? null : room.vault.seal(target, targetIdentity(person)),
    digestAt: nextAt,
  };
}

/** `change` is a function, because what is chosen now starts from what was chosen before. */
export function choose(
  room: Room,
  person: Person,
  change: (before: Preferences) => Preferences,
): Promise<Preferences> {
  return room.store.write(person.space, ['ledger'], async (tx) => {
    const now = room.clock.now();
    const preferences = change((await preferencesOf(room, tx, person)).preferences);
    await tx.preferences.put(person.id, toStored(room, person, preferences, digestAt(preferences, now)));
    await record(room, tx, now, {
      actor: `person:${person.id}`,
      action: 'preferences.changed',
      subject: person.id,
      data: { digest: preferences.digest.kind },
    });
    tx.announce(`desk:${tx.space}`, 'me');
    return preferences;
  });
}
