import type { EventDirectory, VerifyingKey } from '../../../core/events/store.ts';
import { ShortMemory } from '../../../core/maps.ts';
import { type Session, statement } from '../../statement.ts';
import type { Tables } from '../../tables.ts';
import type { Sealer } from '../agents/agents.ts';
import { secretIdentity, toKey, toProducer } from './producers.ts';

const decoder = new TextDecoder();

type Builder = Parameters<Parameters<ReturnType<typeof statement>>[0]>[0];

const withProducer = (db: Builder) =>
  db
    .selectFrom('producer_keys')
    .innerJoin('producers', (join) =>
      join
        .onRef('producers.space_id', '=', 'producer_keys.space_id')
        .onRef('producers.producer_id', '=', 'producer_keys.producer_id'),
    )
    .selectAll('producer_keys')
    .select([
      'producers.name',
      'producers.tier',
      'producers.any_id',
      'producers.last_seen_at',
      'producers.created_at as made_at',
    ]);

const keyById = statement<{ id: string }>()((db, p) =>
  withProducer(db).where('producer_keys.key_id', '=', p.id),
);

// Ed25519 keys are always named (K24), so they do not count here.
const usable = (db: Builder, now: number) =>
  withProducer(db)
    .where('producer_keys.revoked_at', 'is', null)
    .where('producer_keys.algorithm', '=', 'v1')
    .where((eb) =>
      eb.or([eb('producer_keys.expires_at', 'is', null), eb('producer_keys.expires_at', '>', now)]),
    );

const unnamed = statement<{ now: number; limit: number }>()((db, p) =>
  usable(db, p.now).orderBy('producer_keys.created_at', 'desc').limit(p.limit),
);

const unnamedOf = statement<{ space: string; now: number; limit: number }>()((db, p) =>
  usable(db, p.now)
    .where('producer_keys.space_id', '=', p.space)
    .orderBy('producer_keys.created_at', 'desc')
    .limit(p.limit),
);

type KeyWithProducer = Tables['producer_keys'] & {
  name: string;
  tier: string;
  any_id: number;
  last_seen_at: number | null;
  made_at: number;
};

/** Finds the key behind a signature, in any space. Opening a sealed secret costs, so an unchanged row is opened once. */
export function eventDirectory(session: Session, sealer: Sealer): EventDirectory {
  const opened = new ShortMemory<string, { sealed: Uint8Array; secret: string }>(10_000);
  const secretIn = (row: KeyWithProducer): string => {
    const known = opened.get(row.key_id);
    if (known !== undefined && Buffer.from(known.sealed).equals(Buffer.from(row.secret))) return known.secret;
    const secret = decoder.decode(sealer.open(row.secret, secretIdentity(row.space_id, row.key_id)));
    opened.set(row.key_id, { sealed: row.secret, secret });
    return secret;
  };
  const toVerifying = (row: KeyWithProducer): VerifyingKey => ({
    key: toKey(row),
    producer: toProducer({ ...row, created_at: row.made_at }),
    secret: secretIn(row),
  });
  return {
    producerKey: async (id) => {
      const row = await session.one(keyById, { id });
      return row === undefined ? null : toVerifying(row);
    },
    unnamedKeys: async (space, now, limit) => {
      const rows =
        space === null
          ? await session.all(unnamed, { now, limit })
          : await session.all(unnamedOf, { space, now, limit });
      return rows.map(toVerifying);
    },
  };
}
