import { createHash } from 'node:crypto';
import type { JsonObject } from '../../../core/canonical.ts';
import { ShortMemory } from '../../../core/maps.ts';
import type { Skill, StoredCard } from '../../../core/tasks/callers/card.ts';
import { presenceOf } from '../../../core/tasks/presence.ts';
import { toMillisIso } from '../../../core/tasks/task.ts';
import type { Shell } from '../../../http/shell.ts';
import type { Signer } from '../../../http/signing/signer.ts';
import type { Version } from '../dialects/versions.ts';
import { type Address, agentUrl } from '../door.ts';

/** Scope lists are never empty: canonical forms disagree on those (A2). */
const SCOPES = ['call'];
const PRESENCE = '/docs/a2a#presence';

export type MadeCard = { body: string; etag: string };

/** Agent cards: one that is pure 1.0, and one that also satisfies 0.3 and the seed (A2, A3, A23). */
export class CardMaker {
  readonly #shell: Shell;
  readonly #signer: Signer;
  readonly #known = new ShortMemory<string, MadeCard>(1_000);

  constructor(shell: Shell, signer: Signer) {
    this.#shell = shell;
    this.#signer = signer;
  }

  async public(address: Address, version: Version): Promise<MadeCard> {
    const plain = await this.#plain(address);
    const name = `${version === '1.0' ? '1.0' : 'all'}\n${await this.#signer.currentId()}\n${JSON.stringify(plain)}`;
    let made = this.#known.get(name);
    if (made === undefined) {
      const body = JSON.stringify(await this.#dressed(address, plain, version));
      made = { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"` };
      this.#known.set(name, made);
    }
    return made;
  }

  /** Also says who may call and how long a call may wait; for those who may call. */
  async extended(address: Address, version: Version): Promise<JsonObject> {
    const plain = await this.#plain(address);
    const { card } = address;
    const access = {
      uri: `${this.#shell.baseUrl()}/docs/a2a#access`,
      description: 'Who may call this agent, and for how many seconds a blocking call waits.',
      params: { visibility: card.visibility, waitSeconds: card.waitSeconds },
    };
    const capabilities = plain.capabilities as JsonObject & { extensions: JsonObject[] };
    const extended = {
      ...plain,
      capabilities: { ...capabilities, extensions: [...capabilities.extensions, access] },
    };
    return this.#dressed(address, extended, version);
  }

  async #dressed(address: Address, plain: JsonObject, version: Version): Promise<JsonObject> {
    const shown = version === '1.0' ? plain : { ...plain, ...older(this.#shell, address, plain) };
    return { ...shown, signatures: await this.#signatures(shown, plain) };
  }

  /** One signature over the card as it is, and one for each form in which clients read it. */
  #signatures(shown: JsonObject, plain: JsonObject): Promise<JsonObject[]> {
    // The official SDK (1.3) drops the security schemes of a card that it has already read, and verifies the rest; so
    // that form is signed too. An attacker who removes the schemes gains nothing but a call without a key.
    const { securitySchemes: _, ...withoutSchemes } = plain;
    const jku = `${this.#shell.baseUrl()}/.well-known/jwks.json`;
    const forms = new Set([shown, plain, withoutSchemes]);
    return Promise.all([...forms].map((form) => this.#signer.signCard(form, jku)));
  }

  async #plain(address: Address): Promise<JsonObject> {
    const { room } = this.#shell;
    const { online, lastSeenAt } = await presenceOf(room, address.space, address.agent);
    const seen = this.#shell.presence.lastSeen(address.space, address.agent, lastSeenAt);
    const params = online
      ? { state: 'online' }
      : { state: 'asleep', ...(seen === null ? {} : { lastSeenAt: toMillisIso(seen) }) };
    return toCard(this.#shell, address, params);
  }
}

function toCard(shell: Shell, address: Address, presence: JsonObject): JsonObject {
  const { card, handle, agent } = address;
  const url = agentUrl(shell, address);
  const name = `@${handle}/${agent}`;
  return {
    name,
    description: card.description,
    version: card.version,
    supportedInterfaces: [
      { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    ],
    provider: card.provider ?? { organization: `@${handle}`, url: `${shell.baseUrl()}/` },
    ...(card.documentationUrl === null ? {} : { documentationUrl: card.documentationUrl }),
    ...(card.iconUrl === null ? {} : { iconUrl: card.iconUrl }),
    capabilities: {
      streaming: true,
      pushNotifications: true,
      extendedAgentCard: true,
      extensions: [
        {
          uri: shell.baseUrl() + PRESENCE,
          description: 'Whether the agent is connected now, and when it was last there.',
          params: presence,
        },
      ],
    },
    securitySchemes: {
      key: { httpAuthSecurityScheme: { scheme: 'Bearer', description: ABOUT_KEY } },
    },
    ...(card.visibility === 'public'
      ? {}
      : { securityRequirements: [{ schemes: { key: { list: SCOPES } } }] }),
    defaultInputModes: card.inputModes,
    defaultOutputModes: card.outputModes,
    skills: skillsOf(card, name).map(toSkill),
  };
}

const ABOUT_KEY = 'An agent key (wk_…) of the same space, or a caller token (ct_…).';

/** At least one, made from the description when nobody has named any. */
function skillsOf(card: StoredCard, name: string): readonly Skill[] {
  if (card.skills.length > 0) return card.skills;
  return [{ id: 'default', name, description: card.description, tags: ['agent'] }];
}

function toSkill({ id, name, description, tags, ...lists }: Skill): JsonObject {
  const filled = Object.entries(lists).filter(([, list]) => Array.isArray(list) && list.length > 0);
  return { id, name, description, tags: tags.length > 0 ? tags : ['agent'], ...Object.fromEntries(filled) };
}

/** What 0.3 and the seed expect in addition. A 1.0 client drops it before it verifies. */
function older(shell: Shell, address: Address, plain: JsonObject): JsonObject {
  const url = agentUrl(shell, address);
  return {
    protocolVersion: '0.3.0',
    url,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [{ url, transport: 'JSONRPC' }],
    supportsAuthenticatedExtendedCard: true,
    securitySchemes: {
      key: {
        type: 'http',
        scheme: 'Bearer',
        description: ABOUT_KEY,
        ...(plain.securitySchemes as { key: JsonObject }).key,
      },
    },
    ...(address.card.visibility === 'public' ? {} : { security: [{ key: SCOPES }] }),
  };
}
