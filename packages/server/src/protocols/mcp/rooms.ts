import { createLanternServer, RECENT, type Room } from '@lanternroom/mcp';
import { createCaller } from '@lanternroom/sdk/a2a';
import { createInbox } from '@lanternroom/sdk/akep';
import { createWake, LanternError, memoryLog } from '@lanternroom/sdk/wake';
import { type NodeMcpRequestHandler, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server';
import { type Identity, isActive } from '../../core/agents/key.ts';
import type { Shell } from '../../http/shell.ts';
import { INSIDE } from './inside.ts';

type Kept = { handler: McpHttpHandler; serve: NodeMcpRequestHandler; leave(): void };

// Each costs a listener and a few objects; whoever comes back after being let go gets a new one.
const MOST_ROOMS = 1_000;

// With the slash that its card publishes, too, and as those write it who escape the @ (A1).
const AGENT_PATH = /^\/(?:@|%40)[^/]+\/[^/]+\/?$/;

/** One MCP handler for each key, so that nothing that is told to one agent can be heard by another. */
export class Rooms {
  readonly #shell: Shell;
  readonly #fetch: typeof fetch;
  readonly #kept = new Map<string, Kept>();

  constructor(shell: Shell, fetch: typeof globalThis.fetch) {
    this.#shell = shell;
    this.#fetch = fetch;
  }

  /** The handler of a key that was just found good. */
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
    // A room for each request: nothing that one call left behind weighs on the next.
    const handler = createMcpHandler(() => createLanternServer(this.#roomOf(key.agent, apiKey)));
    const leave = this.#shell.wakeups.on(`inbox:${key.space}:${key.agent}`, () => {
      void this.#tell(key.id, key.digest, handler);
    });
    return { handler, serve: toNodeHandler(handler), leave };
  }

  /** Asked again before anything is told: the key may have been revoked since the stream was opened. */
  async #tell(id: string, digest: string, handler: McpHttpHandler): Promise<void> {
    const { store, clock } = this.#shell.room;
    const identity = await store.directory.identityByDigest(digest).catch(() => null);
    if (identity === null || !isActive(identity.key, clock.now())) this.#let(id);
    else handler.notify.resourceUpdated(RECENT);
  }

  #let(id: string): void {
    const kept = this.#kept.get(id);
    this.#kept.delete(id);
    kept?.leave();
    void kept?.handler.close();
  }

  #roomOf(agentId: string, apiKey: string): Room {
    const { baseUrl, about } = this.#shell;
    const inside = { url: INSIDE, apiKey, fetch: this.#fetch };
    return {
      // The ledger is the record here, and the server knows whose delivery is whose.
      wake: createWake({ ...inside, agentId, provider: 'mcp', log: memoryLog() }),
      inbox: createInbox({ ...inside, log: memoryLog() }),
      agent: (address) => createCaller(this.#callee(address, apiKey)),
      deskUrl: (id) => `${baseUrl()}/d/${id}`,
      vouchesForIds: true,
      version: about.version,
    };
  }

  /** Agents of this server only: reaching out to others is not for an inbound request. */
  #callee(address: string, token: string) {
    const url = URL.canParse(address, this.#shell.baseUrl()) ? new URL(address, this.#shell.baseUrl()) : null;
    const isHere = url?.origin === new URL(this.#shell.baseUrl()).origin;
    if (url === null || !isHere || !AGENT_PATH.test(url.pathname)) {
      const like = `${this.#shell.baseUrl()}/@handle/name`;
      throw new LanternError('wrong_usage', `From here only agents of this server can be reached: ${like}.`);
    }
    return { agent: `${INSIDE}${url.pathname}`, token, fetch: this.#fetch };
  }
}
