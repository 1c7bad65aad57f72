import type { FastifyInstance } from 'fastify';
import { judgeTarget } from '../../core/agents/allowlist.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/canonical.ts';
import { isEmail } from '../../core/people/person.ts';
import { choose, preferencesOf } from '../../core/people/preferences/choose.ts';
import {
  DENSITIES,
  DIGEST_KINDS,
  type Digest,
  type Preferences,
  SIZES,
  THEMES,
} from '../../core/people/preferences/preferences.ts';
import { isClock, MOST_SITTINGS, type Quiet, type Sitting } from '../../core/people/sittings/sittings.ts';
import { isTimeZone } from '../../core/people/sittings/zone.ts';
import { objectBody } from '../../http/reading/body.ts';
import { choice, invalid, requiredText } from '../../http/reading/fields.ts';
import type { Shell } from '../../http/shell.ts';
import { caller } from '../person.ts';

/** What a person chooses for themselves. Fields that are left out stay as they are. */
export function preferenceRoutes(app: FastifyInstance, { room, mail }: Shell): void {
  app.get('/desk/preferences', async (request) => {
    const person = caller(request);
    const { preferences } = await room.store.read(person.space, (tx) => preferencesOf(room, tx, person));
    return fromPreferences(preferences);
  });

  app.put('/desk/preferences', async (request) => {
    const change = toChange(objectBody(request.body).value, { mail });
    return fromPreferences(await choose(room, caller(request), (before) => ({ ...before, ...change })));
  });
}

function fromPreferences(p: Preferences) {
  return {
    theme: p.theme,
    density: p.density,
    size: p.size,
    keys: p.keys,
    keys_off: p.keysOff,
    time_zone: p.timeZone,
    sittings: p.sittings,
    quiet: p.quiet,
    digest: p.digest,
  };
}

type Server = { mail: boolean };
type Reader = (value: Json, server: Server) => Partial<Preferences>;

const READERS: Record<string, Reader> = {
  theme: (value) => ({ theme: choice('theme', value, THEMES) }),
  density: (value) => ({ density: choice('density', value, DENSITIES) }),
  size: (value) => ({ size: choice('size', value, SIZES) }),
  keys: (value) => ({ keys: toKeys(value) }),
  keys_off: (value) => ({ keysOff: toSwitch(value) }),
  time_zone: (value) => ({ timeZone: toTimeZone(value) }),
  sittings: (value) => ({ sittings: toSittings(value) }),
  quiet: (value) => ({ quiet: value === null ? null : toQuiet(value) }),
  digest: (value, server) => ({ digest: toDigest(value, server) }),
};

/** A field that would be stored and never used is refused: it would be an empty promise. */
function toChange(body: JsonObject, server: Server): Partial<Preferences> {
  let change: Partial<Preferences> = {};
  for (const [field, value] of Object.entries(body)) {
    // Otherwise `toString` would be a reader, too.
    const read = Object.hasOwn(READERS, field) ? READERS[field] : undefined;
    if (read === undefined) throw invalid(field, `There is no preference named ${field}.`);
    change = { ...change, ...read(value, server) };
  }
  return change;
}

const MOST_KEYS = 60;
const KEY_NAME = /^[a-z][a-z0-9_.-]{0,39}$/;

function toKeys(value: Json): Record<string, string> {
  const entries = isJsonObject(value) ? Object.entries(value) : null;
  const fine = entries?.every(
    ([name, key]) => KEY_NAME.test(name) && typeof key === 'string' && key.length >= 1 && key.length <= 20,
  );
  if (entries === null || !fine || entries.length > MOST_KEYS) {
    throw invalid('keys', `keys must map at most ${MOST_KEYS} action names to keys of 1 to 20 characters.`);
  }
  return Object.fromEntries(entries) as Record<string, string>;
}

function toSwitch(value: Json): boolean {
  if (typeof value === 'boolean') return value;
  throw invalid('keys_off', 'keys_off must be true or false.');
}

function toTimeZone(value: Json): string {
  if (typeof value === 'string' && isTimeZone(value)) return value;
  throw invalid('time_zone', 'time_zone must be a name such as Europe/Vienna or America/New_York.');
}

function toSittings(value: Json): Sitting[] {
  if (!Array.isArray(value)) throw invalid('sittings', 'sittings must be a list.');
  if (value.length > MOST_SITTINGS)
    throw invalid('sittings', `At most ${MOST_SITTINGS} sittings are kept. Remove one first.`);
  return value.map(toSitting);
}

function toSitting(value: Json): Sitting {
  const { days, at } = isJsonObject(value) ? value : {};
  const goodDays = Array.isArray(days) && days.length > 0 && days.every((d) => DAYS.includes(d as number));
  if (!goodDays || typeof at !== 'string' || !isClock(at)) {
    throw invalid('sittings', 'A sitting has days from 1 (Monday) to 7 and a time such as 09:00.');
  }
  return { days: [...new Set(days as number[])].sort(), at };
}

const DAYS = [1, 2, 3, 4, 5, 6, 7];

function toQuiet(value: Json): Quiet {
  const { from, to } = isJsonObject(value) ? value : {};
  if (typeof from === 'string' && typeof to === 'string' && isClock(from) && isClock(to) && from !== to)
    return { from, to };
  throw invalid('quiet', 'quiet must be null, or two different times such as {"from":"22:00","to":"07:00"}.');
}

function toDigest(value: Json, { mail }: Server): Digest {
  if (!isJsonObject(value)) throw invalid('digest', 'digest must be an object with kind and target.');
  const kind = choice('digest.kind', value.kind, DIGEST_KINDS);
  if (kind === 'off') return { kind, target: null };
  const target = requiredText({ 'digest.target': value.target ?? null }, 'digest.target', 2048);
  if (kind === 'email') return { kind, target: toMailbox(target, mail) };
  return { kind, target: toHook(target) };
}

function toMailbox(target: string, mail: boolean): string {
  if (!mail) {
    const message = 'This server cannot send e-mail: its operator has not set LANTERNROOM_SMTP_URL.';
    throw invalid('digest.kind', message);
  }
  if (isEmail(target)) return target;
  throw invalid('digest.target', 'This is not an e-mail address.');
}

/** Whoever sets it owns it, so its own origin is the allowlist; everything else is judged as for a live key. */
function toHook(target: string): string {
  const origins = URL.canParse(target) ? [new URL(target).origin] : [];
  const verdict = judgeTarget(target, origins, 'live');
  if (verdict.allowed) return verdict.url;
  throw invalid('digest.target', verdict.message);
}
