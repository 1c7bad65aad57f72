import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Fault, isFault } from '../../../core/faults.ts';
import { nameOfCaller } from '../../../core/tasks/callers/callers.ts';
import { onlyMethods } from '../../../http/methods.ts';
import type { Shell } from '../../../http/shell.ts';
import type { Signer } from '../../../http/signing/signer.ts';
import { versionOf } from '../dialects/versions.ts';
import { type Address, type AgentParams, agentUrl, callerOf, findAddress } from '../door.ts';
import { CardBody, JwksBody } from '../schema.ts';
import type { CardMaker } from './card.ts';

const NAMES = ['agent-card.json', 'agent.json'];

/** Cards are for everybody, unless an agent is private (A1, A2). */
export function cardRoutes(
  app: FastifyInstance,
  parts: { shell: Shell; cards: CardMaker; signer: Signer },
): void {
  const { shell, cards, signer } = parts;
  for (const name of NAMES) {
    app.route<{ Params: AgentParams }>({
      ...onlyMethods(app, 'GET', `/@:handle/:agent/.well-known/${name}`),
      config: { summary: 'The card of an agent', open: true, response: { 200: CardBody, 304: null } },
      handler: async (request, reply) => {
        const address = await shownAddress(shell, request, request.params);
        if (address === null) throw noCard();
        return sendCard(cards, address, request, reply);
      },
    });
    app.route<{ Params: { handle: string } }>({
      ...onlyMethods(app, 'GET', `/@:handle/.well-known/${name}`),
      config: {
        summary: "The card of a space's only agent",
        open: true,
        response: { 200: CardBody, 304: null },
      },
      handler: (request, reply) => onlyCard({ shell, cards, handle: request.params.handle }, request, reply),
    });
    app.route({
      method: 'GET',
      url: `/.well-known/${name}`,
      config: {
        summary: 'The card of the only agent here',
        open: true,
        response: { 200: CardBody, 304: null },
      },
      handler: async (request, reply) => {
        const [only, another] = await shell.room.store.directory.spaces();
        // With several tenants there is none: who they are is nobody's business.
        if (only === undefined || another !== undefined) throw noCard();
        return onlyCard({ shell, cards, handle: only.handle }, request, reply);
      },
    });
  }
  app.route({
    method: 'GET',
    url: '/.well-known/jwks.json',
    config: {
      summary: 'The keys that cards and pushes are signed with',
      open: true,
      response: { 200: JwksBody },
    },
    handler: async (_, reply) =>
      reply.header('cache-control', 'public, max-age=300').send(await signer.jwks()),
  });
}

function noCard(): Fault {
  return new Fault('not_found', 'There is no agent card at this address.');
}

/** A private agent does not exist for those who may not call it. */
async function shownAddress(
  shell: Shell,
  request: FastifyRequest,
  params: AgentParams,
): Promise<Address | null> {
  const address = await findAddress(shell, params);
  if (address === null || !address.card.isPrivate) return address;
  const caller = await callerOf(shell, request).catch((reason: unknown) => {
    if (isFault(reason)) return { kind: 'nobody' as const };
    throw reason;
  });
  const { space, agent, card } = address;
  const isStranger = caller.kind === 'nobody';
  return isStranger || nameOfCaller(caller, { space, agent, visibility: card.visibility }) === null
    ? null
    : address;
}

async function sendCard(
  cards: CardMaker,
  address: Address,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { body, etag } = await cards.public(address, cardVersion(request));
  reply.headers({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': address.card.isPrivate ? 'private, max-age=60' : 'public, max-age=60',
    'last-modified': new Date(address.card.changedAt / 1000).toUTCString(),
    vary: 'A2A-Version, Authorization',
    etag,
  });
  return isKnown(request, etag) ? reply.code(304).send() : reply.send(body);
}

function isKnown({ headers }: FastifyRequest, etag: string): boolean {
  const tags = headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.some((tag) => tag === etag || tag === '*');
}

/** Any 1.x gets the pure card; an unknown version gets the one that everybody can read. */
function cardVersion(request: FastifyRequest): '1.0' | null {
  const given = String(request.headers['a2a-version'] ?? '');
  if (/^1\.\d/.test(given.trim())) return '1.0';
  try {
    return versionOf(request) === '1.0' ? '1.0' : null;
  } catch {
    return null;
  }
}

const MOST_LISTED = 100;

/** The card of a space's only agent; with several, the addresses of those that may be shown. */
async function onlyCard(
  { shell, cards, handle }: { shell: Shell; cards: CardMaker; handle: string },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const shown = await shownAgents(shell, request, handle);
  const [only] = shown;
  if (shown.length === 1 && only !== undefined) return sendCard(cards, only, request, reply);
  const addresses = shown.map((address) => `${agentUrl(shell, address)}.well-known/agent-card.json`);
  throw new Fault('not_found', 'This is the address of a space. Ask for the card of one of its agents.', {
    extra: { agents: addresses },
  });
}

async function shownAgents(shell: Shell, request: FastifyRequest, handle: string): Promise<Address[]> {
  const space = await shell.room.store.directory.spaceByHandle(handle);
  if (space === null) return [];
  const names = await shell.room.store.read(space.id, (tx) => tx.agents.names(MOST_LISTED));
  const found: Address[] = [];
  for (const agent of names) {
    const address = await shownAddress(shell, request, { handle, agent });
    if (address !== null) found.push(address);
  }
  return found;
}
