import type { FastifyInstance } from 'fastify';
import type { Agent } from '../../core/agents/agent.ts';
import { budgetOf } from '../../core/agents/budget.ts';
import type { KeyRecord } from '../../core/agents/key.ts';
import { noAgent } from '../../core/agents/on-agent.ts';
import { SAMPLE_AGENT } from '../../core/agents/sample.ts';
import { statsOf, weekBegin } from '../../core/agents/stats.ts';
import { MOST_COUNTED } from '../../core/deliveries/reading/overview.ts';
import type { AgentId } from '../../core/ids.ts';
import type { Person } from '../../core/people/person.ts';
import type { AgentQuery, Tx } from '../../core/store.ts';
import { liveLinks } from '../../core/tasks/frames.ts';
import { SECOND } from '../../core/time.ts';
import { FRAMEWORKS, Prompts } from '../../http/pages/prompts.ts';
import { choice, cursorOf, type Query, single, wholeQuery } from '../../http/reading/fields.ts';
import type { Shell } from '../../http/shell.ts';
import { fromAgent, fromBudget, fromSubscription } from '../mapping.ts';
import { caller } from '../person.ts';

type ById = { Params: { id: string } };

/** For lists to choose from; in a longer list, agents are found by typing. */
const MOST_NAMES = 10_000;

/** Everything about agents that can be read without changing anything. */
export function agentReadingRoutes(app: FastifyInstance, shell: Shell): void {
  const { room } = shell;
  const prompts = new Prompts();

  app.get('/desk/agents', async (request) => {
    const query = toAgentQuery(request.query as Query);
    return room.store.read(caller(request).space, async (tx) => {
      const found = await tx.agents.page(query);
      const week = await weekBegin(tx, room.clock.now());
      return {
        agents: await Promise.all(found.map((agent) => showAgentWithStats(shell, tx, agent, week))),
        next_cursor: nextAgent(found, query),
        has_sample: (await tx.agents.get(SAMPLE_AGENT))?.sample === true,
      };
    });
  });

  app.get('/desk/agent-names', async (request) => ({
    names: await room.store.read(caller(request).space, (tx) => tx.agents.names(MOST_NAMES)),
  }));

  app.get<ById>('/desk/agents/:id', async (request) =>
    withAgent(shell, caller(request), request.params.id, async (tx, agent) => ({
      ...(await showAgentWithStats(shell, tx, agent, await weekBegin(tx, room.clock.now()))),
      budgets: await showBudgets(room, tx, agent),
    })),
  );

  app.get<ById>('/desk/agents/:id/subscriptions', async (request) =>
    withAgent(shell, caller(request), request.params.id, async (tx, { id }) => ({
      subscriptions: (await tx.subscriptions.of(id)).map(fromSubscription),
      max_resume_policy: (await tx.waits.settings(id)).maxResumePolicy,
    })),
  );

  app.get<ById>('/desk/agents/:id/prompt', async (request) => {
    const asked = single(request.query as Query, 'framework') ?? 'general';
    const framework = choice('framework', asked, FRAMEWORKS);
    const { id } = request.params;
    await withAgent(shell, caller(request), id, async () => null);
    const reader = { id, url: shell.baseUrl(), rates: room.settings.rates, tier: null };
    return { framework, frameworks: FRAMEWORKS, text: prompts.text(framework, reader) };
  });
}

/** A page of agents: those after a name, with these letters in theirs. */
export function toAgentQuery(query: Query): AgentQuery {
  return {
    after: cursorOf(query) ?? '',
    containing: single(query, 'q') ?? '',
    limit: wholeQuery(query, 'limit', { least: 1, most: 200 }) ?? 100,
  };
}

export function nextAgent(found: readonly Pick<Agent, 'id'>[], { limit }: AgentQuery): AgentId | null {
  return found.length === limit ? (found.at(-1)?.id ?? null) : null;
}

export function withAgent<T>(
  { room }: Shell,
  person: Person,
  id: string,
  work: (tx: Tx, agent: Agent) => Promise<T>,
): Promise<T> {
  return room.store.read(person.space, async (tx) => {
    const agent = await tx.agents.get(id);
    if (agent === null) throw noAgent();
    return work(tx, agent);
  });
}

export async function showAgent({ room, presence }: Shell, tx: Tx, agent: Agent) {
  return fromAgent(agent, {
    keys: await tx.keys.list(agent.id),
    waiting: await tx.counts.waitingOf(agent.id, MOST_COUNTED),
    lastSeenAt: presence.lastSeen(agent.space, agent.id, agent.lastSeenAt),
    online: (await liveLinks(room, tx, agent.id)).length > 0,
  });
}

/** What each of its keys may still deliver now (W5). */
async function showBudgets(room: Shell['room'], tx: Tx, { id }: Agent) {
  const now = room.clock.now();
  const isOver = ({ expiresAt, revokedAt }: KeyRecord) =>
    revokedAt !== null || (expiresAt !== null && expiresAt <= now);
  const keys = (await tx.keys.list(id)).filter((key) => !isOver(key));
  return Promise.all(keys.map(async (key) => fromBudget(key, await budgetOf(room, tx, key))));
}

async function showAgentWithStats(shell: Shell, tx: Tx, agent: Agent, week: number) {
  const shown = await showAgent(shell, tx, agent);
  const stats = await statsOf(tx, agent.id, week);
  return {
    ...shown,
    stats: {
      waiting: shown.waiting,
      answered_week: stats.answeredWeek,
      median_answer_seconds: stats.medianAnswer === null ? null : Math.round(stats.medianAnswer / SECOND),
      callbacks_failing: stats.callbacksFailing,
    },
  };
}
