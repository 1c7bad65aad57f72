import type { Directory, Space, SpaceRows } from '../../core/store.ts';
import { insertOf, type Session, statement } from '../statement.ts';
import type { Tables } from '../tables.ts';
import type { Sealer } from './agents/agents.ts';
import { toKey } from './agents/keys.ts';
import { eventDirectory } from './events/producer-directory.ts';
import { toInvitation } from './people/invitations.ts';
import { toPasskey, toReset } from './people/passkeys.ts';
import { toPerson, toSession, toToken } from './people/people.ts';
import { JOB_COLUMNS, toJob } from './sending/jobs.ts';
import { taskDirectory } from './tasks/callers.ts';

/**
 * The only queries that are not inside one space: they find the space of a credential, or what is due anywhere.
 */
const identity = statement<{ digest: string }>()((db, p) =>
  db
    .selectFrom('keys')
    .innerJoin('agents', (join) =>
      join.onRef('agents.space_id', '=', 'keys.space_id').onRef('agents.agent_id', '=', 'keys.agent_id'),
    )
    .select([
      'keys.space_id',
      'keys.key_id',
      'keys.agent_id',
      'keys.tier',
      'keys.last_four',
      'keys.created_at',
      'keys.expires_at',
      'keys.revoked_at',
      'agents.accepted_at',
      'agents.callbacks',
    ])
    .where('keys.digest', '=', p.digest),
);

const session = statement<{ digest: string }>()((db, p) =>
  db.selectFrom('sessions').selectAll().where('digest', '=', p.digest),
);

const token = statement<{ digest: string }>()((db, p) =>
  db.selectFrom('tokens').selectAll().where('digest', '=', p.digest),
);

const people = statement<{ email: string }>()((db, p) =>
  db.selectFrom('people').selectAll().where('email', '=', p.email).limit(100),
);

const spaces = statement<object>()((db) => db.selectFrom('spaces').selectAll().orderBy('created_at'));

const spaceByHandle = statement<{ handle: string }>()((db, p) =>
  db.selectFrom('spaces').selectAll().where('handle', '=', p.handle),
);

const spaceById = statement<{ space: string }>()((db, p) =>
  db.selectFrom('spaces').selectAll().where('space_id', '=', p.space),
);

const heldDue = statement<{ before: number; limit: number }>()((db, p) =>
  db
    .selectFrom('deliveries')
    .select(['space_id', 'delivery_id', 'effect_at'])
    .where('effect_at', 'is not', null)
    .where('effect_at', '<=', p.before)
    .orderBy('effect_at')
    .limit(p.limit),
);

const nextHeld = statement<object>()((db) =>
  db
    .selectFrom('deliveries')
    .select('effect_at')
    .where('effect_at', 'is not', null)
    .orderBy('effect_at')
    .limit(1),
);

const snoozedDue = statement<{ before: number; limit: number }>()((db, p) =>
  db
    .selectFrom('deliveries')
    .select(['space_id', 'delivery_id'])
    .where('snoozed_until', 'is not', null)
    .where('snoozed_until', '<=', p.before)
    .orderBy('snoozed_until')
    .limit(p.limit),
);

type JobsDue = { before: number; limit: number } & Record<`busy${number}`, string>;

/** With a fixed number of placeholders it is one compiled statement. */
function jobsDueBeside(count: number) {
  const places = Array.from({ length: count }, (_, i) => `busy${i}` as const);
  const due = statement<JobsDue>()((db, p) =>
    db
      .selectFrom('jobs')
      .select(JOB_COLUMNS)
      .where('state', '=', 'due')
      .where('due_at', '<=', p.before)
      .where(
        'origin',
        'not in',
        places.map((name) => p[name] as string),
      )
      .where((eb) => eb.or([eb('leased_until', 'is', null), eb('leased_until', '<=', p.before)]))
      .orderBy('due_at')
      .limit(p.limit),
  );
  return { places, due };
}

/**
 * Usually few receivers are busy, and never many more than there are requests under way. Each placeholder costs, even
 * an empty one.
 */
const BESIDE_FEWER = [16, 64, 128].map(jobsDueBeside);
const BESIDE_MANY = jobsDueBeside(512);

const nextJob = statement<{ after: number }>()((db, p) =>
  db
    .selectFrom('jobs')
    .select('due_at')
    .where('state', '=', 'due')
    .where('due_at', '>', p.after)
    .orderBy('due_at')
    .limit(1),
);

const invitation = statement<{ digest: string }>()((db, p) =>
  db.selectFrom('invitations').selectAll().where('digest', '=', p.digest),
);

const passkey = statement<{ digest: string }>()((db, p) =>
  db.selectFrom('passkeys').selectAll().where('digest', '=', p.digest),
);

const reset = statement<{ digest: string }>()((db, p) =>
  db.selectFrom('resets').selectAll().where('digest', '=', p.digest),
);

const digestsDue = statement<{ before: number; limit: number }>()((db, p) =>
  db
    .selectFrom('preferences')
    .select(['space_id', 'person_id'])
    .where('digest_at', 'is not', null)
    .where('digest_at', '<=', p.before)
    .orderBy('digest_at')
    .limit(p.limit),
);

export function directory(on: Session, sealer: Sealer): Directory {
  return {
    ...eventDirectory(on, sealer),
    ...taskDirectory(on),
    identityByDigest: async (digest) => {
      const row = await on.one(identity, { digest });
      if (row === undefined) return null;
      return {
        key: toKey({ ...row, digest }),
        accepted: row.accepted_at !== null,
        callbacks: JSON.parse(row.callbacks),
      };
    },
    sessionByDigest: async (digest) => mapOne(await on.one(session, { digest }), toSession),
    tokenByDigest: async (digest) => mapOne(await on.one(token, { digest }), toToken),
    peopleByEmail: async (email) => (await on.all(people, { email })).map(toPerson),
    invitationByDigest: async (digest) => mapOne(await on.one(invitation, { digest }), toInvitation),
    passkeyByDigest: async (digest) => mapOne(await on.one(passkey, { digest }), toPasskey),
    resetByDigest: async (digest) => mapOne(await on.one(reset, { digest }), toReset),
    digestsDue: async (before, limit) =>
      (await on.all(digestsDue, { before, limit })).map((row) => ({
        space: row.space_id,
        person: row.person_id,
      })),
    spaces: async () => (await on.all(spaces, {})).map(toSpace),
    spaceByHandle: async (handle) => mapOne(await on.one(spaceByHandle, { handle }), toSpace),
    heldDue: async (before, limit) =>
      (await on.all(heldDue, { before, limit })).map((row) => ({
        space: row.space_id,
        delivery: row.delivery_id,
        effectAt: row.effect_at ?? before,
      })),
    nextHeldAt: async () => (await on.one(nextHeld, {}))?.effect_at ?? null,
    snoozedDue: async (before, limit) =>
      (await on.all(snoozedDue, { before, limit })).map((row) => ({
        space: row.space_id,
        delivery: row.delivery_id,
      })),
    jobsDue: async (before, limit, busyOrigins) => {
      const fits = ({ places }: typeof BESIDE_MANY) => places.length >= busyOrigins.length;
      const { places, due } = BESIDE_FEWER.find(fits) ?? BESIDE_MANY;
      const busy = Object.fromEntries(places.map((name, i) => [name, busyOrigins[i] ?? '']));
      return (await on.all(due, { before, limit, ...busy })).map(toJob);
    },
    nextJobAt: async (after) => (await on.one(nextJob, { after }))?.due_at ?? null,
  };
}

const insertSpace = insertOf('spaces', ['space_id', 'handle', 'created_at', 'push_targets']);

const setPushTargets = statement<{ space: string; targets: string | null }>()((db, p) =>
  db.updateTable('spaces').set({ push_targets: p.targets }).where('space_id', '=', p.space),
);

export function spaceRows(on: Session, space: string): SpaceRows {
  return {
    get: async () => mapOne(await on.one(spaceById, { space }), toSpace),
    insert: async (s) =>
      void (await on.run(insertSpace, {
        space_id: space,
        handle: s.handle,
        created_at: s.createdAt,
        push_targets: s.pushTargets === null ? null : JSON.stringify(s.pushTargets),
      })),
    setPushTargets: async (targets) =>
      void (await on.run(setPushTargets, {
        space,
        targets: targets === null ? null : JSON.stringify(targets),
      })),
  };
}

function toSpace(row: Tables['spaces']): Space {
  return {
    id: row.space_id,
    handle: row.handle,
    createdAt: row.created_at,
    pushTargets: row.push_targets === null ? null : JSON.parse(row.push_targets),
  };
}

function mapOne<R, T>(row: R | undefined, map: (row: R) => T): T | null {
  return row === undefined ? null : map(row);
}
