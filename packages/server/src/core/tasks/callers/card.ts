import { accessEnded } from '../../access.ts';
import { noAgent } from '../../agents/on-agent.ts';
import { Fault } from '../../faults.ts';
import type { AgentId, SpaceId } from '../../ids.ts';
import { type Room, record } from '../../room.ts';
import { isBlank, isLongerThan } from '../../text.ts';
import type { Micros } from '../../time.ts';

export const VISIBILITIES = ['space', 'listed', 'public'] as const;
/** Who may call (A21): the space, also those with a caller token, or everybody. */
export type Visibility = (typeof VISIBILITIES)[number];

export type Skill = {
  id: string;
  name: string;
  description: string;
  tags: string[];
  examples?: string[];
  inputModes?: string[];
  outputModes?: string[];
};

/** What a person may write about an agent; the rest of its card is derived from facts. */
export type CardData = {
  description: string;
  version: string;
  skills: Skill[];
  inputModes: string[];
  outputModes: string[];
  provider: { organization: string; url: string } | null;
  documentationUrl: string | null;
  iconUrl: string | null;
  visibility: Visibility;
  /** Its card is shown only to those who may call it. */
  isPrivate: boolean;
  /** How long `message/send` waits for an answer (A6). */
  waitSeconds: number;
};

export type StoredCard = CardData & { changedAt: Micros };

const MOST_WAIT_SECONDS = 30;

export function defaultCard(agent: { id: AgentId; createdAt: Micros }): StoredCard {
  return {
    description: `The agent ${agent.id}.`,
    version: '1.0.0',
    skills: [],
    inputModes: ['text/plain', 'application/json'],
    outputModes: ['text/plain', 'application/json'],
    provider: null,
    documentationUrl: null,
    iconUrl: null,
    visibility: 'space',
    isPrivate: false,
    waitSeconds: MOST_WAIT_SECONDS,
    changedAt: agent.createdAt,
  };
}

/** The card data of an agent, edited or not. Null when there is no such agent. */
export function readCard(room: Room, space: SpaceId, agent: AgentId): Promise<StoredCard | null> {
  return room.store.read(space, async (tx) => {
    const found = await tx.agents.get(agent);
    return found === null ? null : ((await tx.cards.get(agent)) ?? defaultCard(found));
  });
}

export function setCard(
  room: Room,
  at: { space: SpaceId; agent: AgentId },
  change: Partial<CardData>,
  actor: string,
): Promise<StoredCard | Fault> {
  return room.store.write(at.space, ['ledger'], async (tx) => {
    const agent = await tx.agents.get(at.agent);
    if (agent === null) return noAgent();
    const now = room.clock.now();
    const before = (await tx.cards.get(at.agent)) ?? defaultCard(agent);
    const card: StoredCard = { ...before, ...change, changedAt: now };
    const refused = refuseCard(card);
    if (refused !== null) return refused;
    await tx.cards.put(at.agent, card);
    const data = { fields: Object.keys(change), visibility: card.visibility };
    await record(room, tx, now, { actor, action: 'card.changed', subject: at.agent, data });
    tx.announce(`desk:${tx.space}`, 'agents');
    if (card.visibility !== before.visibility) accessEnded(tx, at.agent);
    return card;
  });
}

const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]+\/(?:[a-z0-9!#$&^_.+-]+|\*)$/i;
const MOST_SKILLS = 100;

function refuseCard(card: CardData): Fault | null {
  return (
    refuseText('description', card.description, 4000) ??
    refuseText('version', card.version, 64) ??
    refuseModes('input_modes', card.inputModes) ??
    refuseModes('output_modes', card.outputModes) ??
    refuseSkills(card.skills) ??
    refuseUrl('documentation_url', card.documentationUrl) ??
    refuseUrl('icon_url', card.iconUrl) ??
    refuseProvider(card.provider) ??
    refuseChoices(card)
  );
}

function refuseText(field: string, text: string, most: number): Fault | null {
  if (typeof text === 'string' && !isBlank(text) && !isLongerThan(text, most)) return null;
  return new Fault('invalid_field', `${field} must have 1 to ${most} characters.`, { field });
}

function refuseModes(field: string, modes: readonly string[]): Fault | null {
  const fine = modes.length > 0 && modes.length <= 50 && modes.every((mode) => MEDIA_TYPE.test(mode));
  return fine
    ? null
    : new Fault('invalid_field', `${field} must be media types such as text/plain.`, { field });
}

function refuseSkills(skills: readonly Skill[]): Fault | null {
  const field = 'skills';
  if (skills.length > MOST_SKILLS)
    return new Fault('invalid_field', `An agent has at most ${MOST_SKILLS} skills.`, { field });
  if (new Set(skills.map((skill) => skill.id)).size !== skills.length)
    return new Fault('invalid_field', 'Two skills have the same id.', { field });
  for (const skill of skills) {
    const refused =
      refuseText('skills.id', skill.id, 128) ??
      refuseText('skills.name', skill.name, 200) ??
      refuseText('skills.description', skill.description, 4000);
    if (refused !== null) return refused;
  }
  return null;
}

function refuseUrl(field: string, url: string | null): Fault | null {
  if (url === null || (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))) return null;
  return new Fault('invalid_field', `${field} must be an address that begins with https://.`, { field });
}

function refuseProvider(provider: CardData['provider']): Fault | null {
  if (provider === null) return null;
  return (
    refuseText('provider.organization', provider.organization, 200) ?? refuseUrl('provider.url', provider.url)
  );
}

function refuseChoices({ visibility, waitSeconds }: CardData): Fault | null {
  if (!VISIBILITIES.includes(visibility))
    return new Fault('invalid_field', `visibility must be one of ${VISIBILITIES.join(', ')}.`, {
      field: 'visibility',
    });
  if (Number.isInteger(waitSeconds) && waitSeconds >= 0 && waitSeconds <= MOST_WAIT_SECONDS) return null;
  return new Fault('invalid_field', `wait_seconds must be a whole number from 0 to ${MOST_WAIT_SECONDS}.`, {
    field: 'wait_seconds',
  });
}
