import { type Agent, activeSecrets, type CallbackSecret } from '../../core/agents/agent.ts';
import { judgeTarget } from '../../core/agents/allowlist.ts';
import type { Tier } from '../../core/agents/key.ts';
import type { AgentId, SpaceId } from '../../core/ids.ts';
import type { Room } from '../../core/room.ts';
import type { Job } from '../../core/sending/job.ts';
import type { Request } from '../../core/store.ts';
import { SECOND } from '../../core/time.ts';
import type { Prepared, SignCallback } from './prepared.ts';

type Sender = { agent: Agent | null; secrets: CallbackSecret[] };

/** The agents of jobs that leave together, each read once. */
export class Senders {
  readonly #room: Room;
  readonly #known = new Map<string, Promise<Sender>>();

  constructor(room: Room) {
    this.#room = room;
  }

  get({ space, agent }: Pick<Job, 'space' | 'agent'>): Promise<Sender> {
    const name = `${space}/${agent}`;
    const known = this.#known.get(name) ?? this.#read(space, agent);
    this.#known.set(name, known);
    return known;
  }

  #read(space: SpaceId, agent: AgentId): Promise<Sender> {
    return this.#room.store.read(space, async (tx) => ({
      agent: await tx.agents.get(agent),
      secrets: await tx.agents.secrets(agent),
    }));
  }
}

const REFUSED: Prepared = { kind: 'refused', outcome: 'target_not_allowed' };

/** The allowlist is asked again at the moment of sending: it may have changed since the delivery (W21). */
export async function prepareCallback(
  { room, sign }: { room: Room; sign: SignCallback },
  job: Job,
  request: Request,
  senders: Senders,
): Promise<Prepared> {
  const now = room.clock.now();
  const { agent, secrets } = await senders.get(job);
  const tier = request.tier ?? (await tierOf(room, job));
  if (agent === null || tier === null) return REFUSED;
  const verdict = judgeTarget(request.url, agent.callbacks, tier);
  if (!verdict.allowed) return REFUSED;
  const body = Buffer.from(request.body);
  const timestamp = Math.floor(now / SECOND);
  const headers = sign({ secrets: activeSecrets(secrets, now), body, id: job.delivery, timestamp });
  const allowLoopback = tier === 'test';
  return { kind: 'http', request: { url: verdict.url, method: 'POST', headers, body, allowLoopback } };
}

/** Callbacks that an older build has queued do not know it. */
function tierOf(room: Room, { space, delivery }: Job): Promise<Tier | null> {
  return room.store.read(space, (tx) => tx.deliveries.tier(delivery));
}
