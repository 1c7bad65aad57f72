import type { FastifyInstance } from 'fastify';
import { isAtHome } from '../../core/agents/home.ts';
import { noAgent } from '../../core/agents/on-agent.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/canonical.ts';
import { Fault, orThrow } from '../../core/faults.ts';
import type { Person } from '../../core/people/person.ts';
import { SERVER } from '../../core/store.ts';
import {
  type CardData,
  readCard,
  type Skill,
  type StoredCard,
  setCard,
  VISIBILITIES,
} from '../../core/tasks/callers/card.ts';
import type { SigningKey } from '../../core/tasks/store.ts';
import { toIso, toIsoOrNull } from '../../core/time.ts';
import { objectBody } from '../../http/reading/body.ts';
import { choice, invalid } from '../../http/reading/fields.ts';
import type { Shell } from '../../http/shell.ts';
import { requireRole } from '../auth.ts';
import { caller } from '../person.ts';

type ById = { Params: { id: string } };

/** Cards as A2A shows them, made by that door; the desk only displays them. */
export interface Cards {
  preview(at: { space: string; handle: string; agent: string; card: StoredCard }): Promise<{
    v1: JsonObject;
    all: JsonObject;
  }>;
  rotate(): Promise<void>;
}

/** What the world reads about an agent, and the key that vouches for it. */
export function cardRoutes(app: FastifyInstance, shell: Shell, cards: Cards): void {
  const { room } = shell;

  app.get<ById>('/desk/agents/:id/card', async (request) => {
    const person = caller(request);
    const card = await cardOf(shell, person, request.params.id);
    return showCard(shell, cards, person, { agent: request.params.id, card });
  });

  app.put<ById>('/desk/agents/:id/card', async (request) => {
    const person = caller(request);
    requireRole(person, 'owner');
    const { id } = request.params;
    const change = toChange(objectBody(request.body).value);
    const card = orThrow(
      await setCard(room, { space: person.space, agent: id }, change, `person:${person.id}`),
    );
    return showCard(shell, cards, person, { agent: id, card });
  });

  /** A preview; nothing is stored. */
  app.post<ById>('/desk/agents/:id/card/preview', async (request) => {
    const person = caller(request);
    const { id } = request.params;
    const change = toChange(objectBody(request.body).value);
    const card = { ...(await cardOf(shell, person, id)), ...change };
    return (await showCard(shell, cards, person, { agent: id, card })).preview;
  });

  app.get('/desk/signing', async () => ({ keys: (await keysOf(shell)).map(fromSigningKey) }));

  app.post('/desk/signing/rotate', async (request) => {
    const person = caller(request);
    requireRole(person, 'owner');
    await refuseTenant(shell, person);
    await cards.rotate();
    return { keys: (await keysOf(shell)).map(fromSigningKey) };
  });
}

async function cardOf({ room }: Shell, person: Person, agent: string): Promise<StoredCard> {
  const card = await readCard(room, person.space, agent);
  if (card !== null) return card;
  throw noAgent();
}

async function showCard(
  { room, baseUrl }: Shell,
  cards: Cards,
  { space }: Person,
  { agent, card }: { agent: string; card: StoredCard },
) {
  const handle = (await room.store.read(space, (tx) => tx.spaces.get()))?.handle ?? '';
  const preview = await cards.preview({ space, handle, agent, card });
  return {
    card: fromCard(card),
    url: `${baseUrl()}/@${handle}/${encodeURIComponent(agent)}/`,
    preview,
    signed_with: keyIdsOf(preview.v1),
  };
}

/** The ids of the keys that signed it, as the card itself says. */
function keyIdsOf(card: JsonObject): string[] {
  const signatures = Array.isArray(card.signatures) ? card.signatures : [];
  const ids = signatures.flatMap((one) => {
    if (!isJsonObject(one) || typeof one.protected !== 'string') return [];
    const header = JSON.parse(Buffer.from(one.protected, 'base64url').toString()) as { kid?: string };
    return header.kid === undefined ? [] : [header.kid];
  });
  return [...new Set(ids)];
}

/** One key signs for the whole server, so only those who set the server up may change it. */
async function refuseTenant({ room }: Shell, person: Person): Promise<void> {
  if (await isAtHome(room, person)) return;
  throw new Fault(
    'role_too_low',
    'This key signs for every space on this server. Only an owner of the first space can change it.',
  );
}

function keysOf({ room }: Shell): Promise<SigningKey[]> {
  return room.store.read(SERVER, (tx) => tx.signing.list());
}

function fromSigningKey({ id, createdAt, retiredAt }: SigningKey) {
  return { key_id: id, created_at: toIso(createdAt), retired_at: toIsoOrNull(retiredAt) };
}

function fromCard(card: StoredCard) {
  return {
    description: card.description,
    version: card.version,
    skills: card.skills,
    input_modes: card.inputModes,
    output_modes: card.outputModes,
    provider: card.provider,
    documentation_url: card.documentationUrl,
    icon_url: card.iconUrl,
    visibility: card.visibility,
    private: card.isPrivate,
    wait_seconds: card.waitSeconds,
    changed_at: toIso(card.changedAt),
  };
}

/** Fields left out stay as they are; unknown fields are refused, so that a typing error is not taken for a change. */
function toChange(body: JsonObject): Partial<CardData> {
  const change: Partial<CardData> = {};
  for (const [name, value] of Object.entries(body)) {
    const read = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
    if (read === undefined) throw invalid(name, `A card has no field ${name}.`);
    Object.assign(change, read(value));
  }
  return change;
}

const FIELDS: Record<string, ((value: Json) => Partial<CardData>) | undefined> = {
  description: (value) => ({ description: text('description', value) }),
  version: (value) => ({ version: text('version', value) }),
  skills: (value) => ({ skills: list('skills', value).map(toSkill) }),
  input_modes: (value) => ({ inputModes: texts('input_modes', value) }),
  output_modes: (value) => ({ outputModes: texts('output_modes', value) }),
  provider: (value) => ({ provider: value === null ? null : toProvider(value) }),
  documentation_url: (value) => ({
    documentationUrl: value === null ? null : text('documentation_url', value),
  }),
  icon_url: (value) => ({ iconUrl: value === null ? null : text('icon_url', value) }),
  visibility: (value) => ({ visibility: choice('visibility', value, VISIBILITIES) }),
  private: (value) => {
    if (typeof value !== 'boolean') throw invalid('private', 'private must be true or false.');
    return { isPrivate: value };
  },
  wait_seconds: (value) => {
    if (typeof value !== 'number') throw invalid('wait_seconds', 'wait_seconds must be a number.');
    return { waitSeconds: value };
  },
};

function text(field: string, value: Json): string {
  if (typeof value === 'string') return value;
  throw invalid(field, `${field} must be a string.`);
}

function list(field: string, value: Json): Json[] {
  if (Array.isArray(value)) return value;
  throw invalid(field, `${field} must be a list.`);
}

const texts = (field: string, value: Json) => list(field, value).map((item) => text(field, item));

function toProvider(value: Json): { organization: string; url: string } {
  if (!isJsonObject(value)) throw invalid('provider', 'provider must be an object or null.');
  return {
    organization: text('provider.organization', value.organization ?? null),
    url: text('provider.url', value.url ?? null),
  };
}

function toSkill(value: Json): Skill {
  if (!isJsonObject(value)) throw invalid('skills', 'A skill must be an object.');
  return {
    id: text('skills.id', value.id ?? null),
    name: text('skills.name', value.name ?? null),
    description: text('skills.description', value.description ?? null),
    tags: texts('skills.tags', value.tags ?? []),
    ...(value.examples === undefined ? {} : { examples: texts('skills.examples', value.examples) }),
    ...(value.inputModes === undefined ? {} : { inputModes: texts('skills.inputModes', value.inputModes) }),
    ...(value.outputModes === undefined
      ? {}
      : { outputModes: texts('skills.outputModes', value.outputModes) }),
  };
}
