import type { Command } from 'commander';
import { UsageError } from '../config.ts';
import { foundSpace } from '../core/agents/found.ts';
import { orThrow } from '../core/faults.ts';
import type { Room } from '../core/room.ts';
import type { Space } from '../core/store.ts';
import { setPushTargets } from '../core/tasks/push/push-targets.ts';
import { toIso } from '../core/time.ts';
import {
  type Common,
  common,
  inSpace,
  OPERATOR,
  print,
  withGround,
  withGroundOrNew,
  withSpace,
} from './with-ground.ts';

type PushOptions = Common & { anywhere?: boolean; nowhere?: boolean };

export function addSpaceCommands(program: Command): void {
  const space = program.command('space').description('Tenants: each has its own agents, people and ledger');
  common(space.command('add <handle>').description('make a space'), 'space add second-team').action(add);
  common(space.command('list').description('all spaces, and how much is in them'), 'space list').action(list);
  inSpace(
    space
      .command('push-targets [address...]')
      .description(
        'restrict where callers may have A2A push notifications sent; shows it without an address',
      ),
    'space push-targets',
    'space push-targets https://partner.example.com/hooks https://ops.example.com',
    'space push-targets --anywhere',
  )
    .option('--anywhere', 'no list: wherever the rules about addresses allow')
    .option('--nowhere', 'an empty list: pushes reach only agents of this server')
    .action(pushTargets);
}

function add(handle: string, options: Common): Promise<void> {
  return withGroundOrNew(options, async ({ room }) => {
    const made = orThrow(await foundSpace(room, handle, OPERATOR));
    print(options, { space: made.handle, space_id: made.id }, `Made the space @${made.handle}.`);
  });
}

function list(options: Common): Promise<void> {
  return withGround(options, async ({ room }) => {
    const spaces = await room.store.directory.spaces();
    const shown = await Promise.all(spaces.map((space) => show(room, space)));
    const words = shown.map(
      ({ space, agents, people, created_at }) =>
        `@${space}  agents ${agents}, people ${people}, since ${created_at}`,
    );
    const none = 'No spaces yet. Make one: lanternroom space add HANDLE';
    print(options, { spaces: shown }, words.join('\n') || none);
  });
}

function show({ store }: Room, { id, handle, createdAt }: Space) {
  return store.read(id, async (tx) => ({
    space: handle,
    space_id: id,
    created_at: toIso(createdAt),
    agents: (await tx.agents.list()).length,
    people: (await tx.people.list()).length,
  }));
}

function pushTargets(addresses: string[], options: PushOptions): Promise<void> {
  const wanted = toTargets(addresses, options);
  return withSpace(options, async (ground, { id, handle, pushTargets: before }) => {
    const targets =
      wanted === undefined
        ? before
        : orThrow(await setPushTargets(ground.room, { space: id, targets: wanted }, OPERATOR));
    const where = targets === null ? 'anywhere' : targets.join(', ') || 'nowhere';
    print(options, { space: handle, push_targets: targets }, `Pushes of @${handle} may go: ${where}.`);
  });
}

/** Undefined when nothing is to be changed. */
function toTargets(
  addresses: string[],
  { anywhere, nowhere }: PushOptions,
): readonly string[] | null | undefined {
  const ways = [addresses.length > 0, anywhere, nowhere].filter(Boolean).length;
  if (ways > 1) throw new UsageError('Give addresses, or --anywhere, or --nowhere: only one of them.');
  if (anywhere) return null;
  return nowhere || addresses.length > 0 ? addresses : undefined;
}
