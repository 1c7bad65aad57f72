import type { Command } from 'commander';
import { UsageError } from '../config.ts';
import { rotateCallbackSecret, setCallbacks } from '../core/agents/callbacks.ts';
import { addAgent } from '../core/agents/found.ts';
import { isActive } from '../core/agents/key.ts';
import { addKey, revokeKeys } from '../core/agents/keys.ts';
import { noAgent } from '../core/agents/on-agent.ts';
import { orThrow } from '../core/faults.ts';
import { toIso, toIsoOrNull } from '../core/time.ts';
import { type Common, inSpace, OPERATOR, print, withSpace } from './with-ground.ts';

type AgentOptions = Common & { live?: boolean; callback?: string[]; key?: string };

export function addAgentCommands(program: Command): void {
  const agent = program.command('agent').description('Agents and their keys');
  inSpace(
    agent.command('add <name>').description('make an agent; prints its key and callback secret once'),
    'agent add research-agent-01',
    'agent add deployer --live --callback https://agents.example.com/wake',
  )
    .option('--live', 'a live key (wk_live_) instead of a test key')
    .option('--callback <address...>', 'allow callbacks to this origin and path')
    .action(add);
  inSpace(agent.command('list').description('all agents with their keys'), 'agent list --json').action(list);
  inSpace(
    agent.command('key <name>').description('a further key; the others stay as they are'),
    'agent key deployer --live',
  )
    .option('--live', 'a live key')
    .action((name: string, options: AgentOptions) => makeKey(name, options, false));
  inSpace(
    agent.command('rotate <name>').description('a new key; the old ones stay valid for one more day'),
    'agent rotate deployer',
  )
    .option('--live', 'a live key')
    .action((name: string, options: AgentOptions) => makeKey(name, options, true));
  inSpace(
    agent.command('revoke <name>').description('end all keys of an agent at once, or one with --key'),
    'agent revoke deployer',
    'agent revoke deployer --key key_4fT0qWz81LxB',
  )
    .option('--key <id>', 'only this key')
    .action(revoke);
  inSpace(
    agent
      .command('callbacks <name> [address...]')
      .description('where an agent may be called back; shows it without an address'),
    'agent callbacks deployer',
    'agent callbacks deployer https://agents.example.com/wake https://ops.example.com',
    'agent callbacks deployer --nowhere',
  )
    .option('--nowhere', 'an empty list: no callbacks')
    .action(callbacks);
  inSpace(
    agent.command('secret <name>').description('a new callback secret; both sign for four days'),
    'agent secret deployer',
  ).action(secret);
}

function add(name: string, options: AgentOptions): Promise<void> {
  return withSpace(options, async (ground, space) => {
    const wanted = {
      space: space.id,
      id: name,
      tier: options.live ? ('live' as const) : ('test' as const),
      callbacks: options.callback ?? [],
    };
    const made = orThrow(await addAgent(ground.room, wanted, OPERATOR));
    print(
      options,
      {
        agent_id: name,
        space: space.handle,
        key_id: made.keyId,
        key: made.key,
        callback_secret: made.callbackSecret,
      },
      `Made the agent ${name} in @${space.handle}. These are shown only now:\n  key              ${made.key}\n  callback secret  ${made.callbackSecret}`,
    );
  });
}

function list(options: Common): Promise<void> {
  return withSpace(options, async (ground, space) => {
    const now = ground.room.clock.now();
    const agents = await ground.room.store.read(space.id, async (tx) => {
      const all = await tx.agents.list();
      return Promise.all(all.map(async (agent) => ({ agent, keys: await tx.keys.list(agent.id) })));
    });
    const shown = agents.map(({ agent, keys }) => ({
      agent_id: agent.id,
      created_at: toIso(agent.createdAt),
      callbacks: agent.callbacks,
      keys: keys.map((k) => ({
        key_id: k.id,
        tier: k.tier,
        last_four: k.lastFour,
        active: isActive(k, now),
        expires_at: toIsoOrNull(k.expiresAt),
        revoked_at: toIsoOrNull(k.revokedAt),
      })),
    }));
    const words = shown.map((a) => {
      const active = a.keys.filter((k) => k.active).map(inWords);
      return `${a.agent_id}\n  keys       ${active.join(', ') || 'none active'}\n  callbacks  ${a.callbacks.join(', ') || 'none allowed'}`;
    });
    print(
      options,
      { space: space.handle, agents: shown },
      words.join('\n') || 'No agents yet. Make one: lanternroom agent add NAME',
    );
  });
}

type ShownKey = { key_id: string; tier: string; last_four: string; expires_at: string | null };

function inWords({ key_id, tier, last_four, expires_at }: ShownKey): string {
  return `wk_${tier}_…${last_four} (${key_id}${expires_at === null ? '' : `, until ${expires_at}`})`;
}

function makeKey(name: string, options: AgentOptions, rotate: boolean): Promise<void> {
  return withSpace(options, async (ground, space) => {
    const tier = options.live ? ('live' as const) : null;
    const made = orThrow(await addKey(ground.room, { space: space.id, agent: name, tier, rotate }, OPERATOR));
    const until = toIsoOrNull(made.othersExpireAt);
    print(
      options,
      { agent_id: name, key_id: made.keyId, key: made.key, tier: made.tier, others_expire_at: until },
      `A new key for ${name}, shown only now:\n  ${made.key}${until === null ? '' : `\nThe keys before it work until ${until}.`}`,
    );
  });
}

function revoke(name: string, options: AgentOptions): Promise<void> {
  return withSpace(options, async (ground, space) => {
    const at = { space: space.id, agent: name, keyId: options.key };
    const { revoked } = orThrow(await revokeKeys(ground.room, at, OPERATOR));
    print(
      options,
      { agent_id: name, revoked },
      `Revoked ${revoked.length === 1 ? 'one key' : `${revoked.length} keys`} of ${name}.`,
    );
  });
}

function callbacks(
  name: string,
  addresses: string[],
  options: Common & { nowhere?: boolean },
): Promise<void> {
  const isShown = addresses.length === 0 && options.nowhere !== true;
  if (addresses.length > 0 && options.nowhere) throw new UsageError('Give addresses or --nowhere, not both.');
  return withSpace(options, async ({ room }, { id: space }) => {
    const agent = orThrow(
      isShown
        ? ((await room.store.read(space, (tx) => tx.agents.get(name))) ?? noAgent())
        : await setCallbacks(room, { space, agent: name, callbacks: addresses }, OPERATOR),
    );
    print(
      options,
      { agent_id: name, callbacks: agent.callbacks },
      `${name} may be called back at: ${agent.callbacks.join(', ') || 'nowhere'}.`,
    );
  });
}

function secret(name: string, options: Common): Promise<void> {
  return withSpace(options, async (ground, space) => {
    const made = orThrow(await rotateCallbackSecret(ground.room, { space: space.id, agent: name }, OPERATOR));
    const until = toIso(made.oldExpiresAt);
    print(
      options,
      { agent_id: name, callback_secret: made.callbackSecret, old_expires_at: until },
      `A new callback secret for ${name}, shown only now:\n  ${made.callbackSecret}\nThe one before it signs too until ${until}.`,
    );
  });
}
