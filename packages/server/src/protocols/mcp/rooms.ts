import type { ServerResponse } from 'node:http';
import { createLanternServer, RECENT, type Room } from '@lanternroom/mcp';
import { createCaller } from '@lanternroom/sdk/a2a';
import { createInbox } from '@lanternroom/sdk/akep';
import { createWake, LanternError, memoryLog } from '@lanternroom/sdk/wake';
import { type NodeMcpRequestHandler, toNodeHandler } from '@modelcontextprotocol/node';
import { type AuthInfo, createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server';
import { accessTopic } from '../../core/access.ts';
import { type Identity, isActive, type KeyRecord } from '../../core/agents/key.ts';
import type { Shell } from '../../http/shell.ts';
import { type insideFetch, insideUrl } from './inside.ts';

type Inside = ReturnType<typeof insideFetch>;

/** How a room reaches our own doors. */
type Within = { url: string; apiKey: string; fetch: typeof fetch };

type Kept = { handler: McpHttpHandler; serve: NodeMcpRequestHandler; leave(): void };

// Each costs a listener and a few objects; a client whose handler was dropped gets a new one.
const MOST_ROOMS = 1_000;

// With the slash that its card publishes, too, and as those write it who escape the @ (A1).
const AGENT_PATH = /^\/(?:@|%40)[^/]+\/[^/]+\/?$/;

/** One MCP handler per key, so that nothing meant for one agent can reach another. */
export class Rooms {
  readonly #shell: Shell;
  readonly #inside: Inside;
  readonly #kept = new Map<string, Kept>();

  constructor(shell: Shell, inside: Inside) {
    this.#shell = shell;
    this.#inside = inside;
  }

  /** The handler of a key that was just verified. */
  of(identity: Identity, apiKey: string): NodeMcpRequestHandler {
    const { id } = identity.key;
    const known = this.#kept.get(id);
    if (known !== undefined) return known.serve;
    const oldest = this.#kept.keys().next().value;
    if (this.#kept.size >= MOST_ROOMS && oldest !== undefined) this.#let(oldest);
    const kept = this.#open(identity, apiKey);
    this.#kept.set(id, kept);
    return kept.serve;
  }

  closeAll(): void {
    for (const id of [...this.#kept.keys()]) this.#let(id);
  }

  #open({ key }: Identity, apiKey: string): Kept {
    // A room per request: nothing that one call leaves behind can slow the next.
    const handler = createMcpHandler(({ authInfo, era }) => {
      const fetch = this.#inside(answerOf(authInfo));
      const room = this.#roomOf(key.agent, { url: insideUrl(this.#shell, key.tier), apiKey, fetch });
      // The older era is served without sessions here (M7).
      return createLanternServer(room, { announces: era === 'modern' });
    });
    const { wakeups } = this.#shell;
    const ifLetIn = (then: () => void) => void this.#ifLetIn(key, then);
    const offs = [
      wakeups.on(`inbox:${key.space}:${key.agent}`, () =>
        ifLetIn(() => handler.notify.resourceUpdated(RECENT)),
      ),
      wakeups.on(accessTopic(key.space, key.agent), () => ifLetIn(() => {})),
    ];
    const leave = () => {
      for (const off of offs) off();
    };
    const serve = toNodeHandler(handler);
    return { handler, serve: (request, ...rest) => serve(withAnswer(request, rest[0]), ...rest), leave };
  }

  /** The key may have been revoked since the stream was opened: then the stream ends, and nothing is told (W28). */
  async #ifLetIn({ id, digest }: KeyRecord, then: () => void): Promise<void> {
    const { store, clock } = this.#shell.room;
    const identity = await store.directory.identityByDigest(digest).catch(() => null);
    if (identity === null || !isActive(identity.key, clock.now())) this.#let(id);
    else then();
  }

  #let(id: string): void {
    const kept = this.#kept.get(id);
    this.#kept.delete(id);
    kept?.leave();
    void kept?.handler.close();
  }

  #roomOf(agentId: string, inside: Within): Room {
    const { baseUrl, about } = this.#shell;
    return {
      // No log of its own: the ledger is the record here, and the server knows which agent a delivery belongs to.
      wake: createWake({ ...inside, agentId, provider: 'mcp', log: memoryLog() }),
      inbox: createInbox({ ...inside, log: memoryLog() }),
      agent: (address) => createCaller(this.#callee(address, inside)),
      deskUrl: (id) => `${baseUrl()}/d/${id}`,
      vouchesForIds: true,
      version: about.version,
    };
  }

  /** Only agents of this server: an inbound request must not reach out to others. */
  #callee(address: string, { url: own, apiKey: token, fetch }: Within) {
    const url = URL.canParse(address, this.#shell.baseUrl()) ? new URL(address, this.#shell.baseUrl()) : null;
    const isHere = url?.origin === new URL(this.#shell.baseUrl()).origin;
    if (url === null || !isHere || !AGENT_PATH.test(url.pathname)) {
      const like = `${this.#shell.baseUrl()}/@handle/name`;
      throw new LanternError('wrong_usage', `From here only agents of this server can be reached: ${like}.`);
    }
    return { agent: own + url.pathname, token, fetch };
  }
}

/** The library passes on what it finds at `auth`: for us, the answer that a request waits for. */
function withAnswer<Request extends object>(request: Request, response: unknown): Request {
  return Object.assign(request, { auth: { token: '', clientId: '', scopes: [], extra: { response } } });
}

function answerOf(auth: AuthInfo | undefined): ServerResponse {
  return auth?.extra?.response as ServerResponse;
}
