import type { Command } from 'commander';
import { isActive } from '../core/agents/key.ts';
import { isPublicKey, producerIdFor } from '../core/events/producer.ts';
import { addProducer, revokeProducerKeys, rotateProducerKey } from '../core/events/producers.ts';
import { orThrow } from '../core/faults.ts';
import type { Space } from '../core/store.ts';
import { toIso, toIsoOrNull } from '../core/time.ts';
import type { Ground } from '../ground.ts';
import { type Common, inSpace, OPERATOR, print, withSpace } from './with-ground.ts';

type ProducerOptions = Common & { live?: boolean; key?: string; publicKey?: string };

export function addProducerCommands(program: Command): void {
  const producer = program
    .command('producer')
    .description('Outside systems that send signed knowledge events');
  inSpace(
    producer.command('add <name>').description('make a producer; prints its signing secret once'),
    'producer add sense2ai --live',
  )
    .option('--live', 'must name itself in every event')
    .option('--public-key <whpk>', 'Ed25519 instead of a shared secret; for subscriptions that name the key')
    .action(add);
  inSpace(
    producer
      .command('list')
      .description('all producers, when they were last seen, and the newest of what was refused'),
    'producer list --json',
  ).action(list);
  inSpace(
    producer.command('rotate <id>').description('a new signing key; the old ones end in four days'),
    'producer rotate sense2ai',
  )
    .option('--public-key <whpk>', 'Ed25519 instead of a shared secret')
    .action(rotate);
  inSpace(
    producer.command('revoke <id>').description('end all keys of a producer at once, or one with --key'),
    'producer revoke sense2ai',
  )
    .option('--key <id>', 'only this key')
    .action(revoke);
}

function add(name: string, options: ProducerOptions): Promise<void> {
  return withSpace(options, async (ground, space) => {
    const tier = options.live ? ('live' as const) : ('test' as const);
    const { publicKey } = options;
    const made = orThrow(
      await addProducer(ground.room, { space: space.id, name, tier, publicKey }, OPERATOR),
    );
    print(
      options,
      { producer_id: made.producer.id, key_id: made.keyId, secret: made.secret, tier, space: space.handle },
      `Made the producer ${made.producer.id} in @${space.handle}.${keyLines(made)}`,
    );
  });
}

function keyLines({ keyId, secret }: { keyId: string; secret: string }): string {
  const id = `\n  key id  ${keyId}`;
  return isPublicKey(secret) ? id : ` The secret is shown only now:${id}\n  secret  ${secret}`;
}

const SHOWN_REFUSALS = 5;

function list(options: Common): Promise<void> {
  return withSpace(options, async (ground, space) => {
    const now = ground.room.clock.now();
    const producers = await ground.room.store.read(space.id, async (tx) => {
      const all = await tx.producers.list();
      return Promise.all(
        all.map(async (p) => ({
          producer_id: p.id,
          name: p.name,
          tier: p.tier,
          last_seen_at: toIsoOrNull(p.lastSeenAt),
          keys: (await tx.producers.keys(p.id)).map((k) => ({
            key_id: k.id,
            active: isActive(k, now),
            expires_at: toIsoOrNull(k.expiresAt),
          })),
          refused: (await tx.producers.refusals(p.id, SHOWN_REFUSALS)).map((r) => ({
            at: toIso(r.at),
            event_id: r.eventId,
            status: r.status,
            reason: r.reason,
          })),
        })),
      );
    });
    const words = producers.flatMap((p) => {
      const active = p.keys.filter((k) => k.active).map(inWords);
      return [
        `${p.producer_id}  ${p.tier}  last seen ${p.last_seen_at ?? 'never'}`,
        `  keys  ${active.join(', ') || 'none active'}`,
        ...p.refused.map(refusalInWords),
      ];
    });
    print(
      options,
      { space: space.handle, producers },
      words.join('\n') || 'No producers yet. Make one: lanternroom producer add NAME',
    );
  });
}

function inWords({ key_id, expires_at }: { key_id: string; expires_at: string | null }): string {
  return expires_at === null ? key_id : `${key_id} (until ${expires_at})`;
}

/** The id and parts of the reason are the producer's words, which must not steer a terminal. */
function refusalInWords(r: { at: string; status: number; event_id: string | null; reason: string }): string {
  const line = `  refused  ${r.at}  ${r.status}  ${r.event_id ?? 'no id'}  ${r.reason}`;
  return line.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd');
}

/** Its id, or the name that it was made with. */
async function findProducer(ground: Ground, { id: space }: Space, named: string): Promise<string> {
  const byName = producerIdFor(named);
  return ground.room.store.read(space, async (tx) =>
    (await tx.producers.get(named)) === null && (await tx.producers.get(byName)) !== null ? byName : named,
  );
}

function rotate(named: string, options: ProducerOptions): Promise<void> {
  return withSpace(options, async (ground, space) => {
    const producer = await findProducer(ground, space, named);
    const at = { space: space.id, producer, publicKey: options.publicKey };
    const made = orThrow(await rotateProducerKey(ground.room, at, OPERATOR));
    const until = toIso(made.othersExpireAt);
    print(
      options,
      { producer_id: producer, key_id: made.keyId, secret: made.secret, others_expire_at: until },
      `A new signing key for ${producer}.${keyLines(made)}\nThe keys before it work until ${until}.`,
    );
  });
}

function revoke(named: string, options: ProducerOptions): Promise<void> {
  return withSpace(options, async (ground, space) => {
    const producer = await findProducer(ground, space, named);
    const { revoked } = orThrow(
      await revokeProducerKeys(ground.room, { space: space.id, producer, keyId: options.key }, OPERATOR),
    );
    print(
      options,
      { producer_id: producer, revoked },
      `Revoked ${revoked.length === 1 ? 'one key' : `${revoked.length} keys`} of ${producer}.`,
    );
  });
}
