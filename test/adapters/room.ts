import { join } from 'node:path';
import { createWake, fileLog, type Wake } from '@lanternroom/sdk/wake';
import type { Answer, Desk } from '../support/desk.ts';
import { temporaryFolder } from '../support/folder.ts';
import { newAgent, type Server, sharedServer, type TestAgent } from '../support/server.ts';
import { until } from '../support/until.ts';

type Row = {
  agent_id: string;
  delivery_id: string;
  headline: string;
  summary: string;
  type: string;
  status: string;
};
type Detail = { details: null | { tool?: string; arguments?: unknown } };
export type Decides = (shown: { tool: string | undefined; args: unknown; row: Row }) => Answer;

/** A real server for the tests of a file; each opens a room of its own on it. */
export function sharedRooms(): () => Promise<Room> {
  const server = sharedServer({ env: { LANTERNROOM_UNDO_SECONDS: '0' } });
  let desk: Promise<Desk> | undefined;
  return async () => {
    desk ??= server().desk();
    return new Room(server(), await desk, await newAgent(await desk));
  };
}

/** An agent's client with its log in a file, and a person who reads what that agent has open. */
export class Room {
  readonly server: Server;
  readonly desk: Desk;
  readonly agent: TestAgent;
  readonly logFile = join(temporaryFolder(), 'log.jsonl');
  readonly wake: Wake;

  constructor(server: Server, desk: Desk, agent: TestAgent) {
    this.server = server;
    this.desk = desk;
    this.agent = agent;
    this.wake = this.client();
  }

  /** Another process of the same agent, as far as the SDK can tell. */
  client(logFile = this.logFile): Wake {
    const { id, key } = this.agent;
    return createWake({ url: this.server.url, apiKey: key, agentId: id, log: fileLog(logFile) });
  }

  /** Everything that the agent ever put on the desk. */
  async rows(): Promise<Row[]> {
    const path = '/desk/deliveries?limit=100&from=2000-01-01T00:00:00Z';
    const { json } = await this.desk.request<{ deliveries: Row[] }>('GET', path);
    return json.deliveries.filter(({ agent_id }) => agent_id === this.agent.id);
  }

  async open(): Promise<Row[]> {
    return (await this.rows()).filter(({ type, status }) => type === 'question' && status === 'pending');
  }

  /** Waits for `count` open questions, then answers each. */
  async person(count: number, decides: Decides): Promise<void> {
    const rows = await until(`${count} open questions`, async () => {
      const open = await this.open();
      return open.length >= count && open;
    });
    for (const row of rows) await this.answer(row, decides);
  }

  async answer(row: Row, decides: Decides): Promise<void> {
    const detail = await this.desk.request<Detail>('GET', `/desk/deliveries/${row.delivery_id}`);
    const { tool, arguments: args } = detail.json.details ?? {};
    const { status, text } = await this.desk.decide(row.delivery_id, decides({ tool, args, row }));
    if (status >= 300) throw new Error(`the decision was refused: ${status} ${text}`);
  }
}

export const approve = (): Answer => ({ status: 'approved' });
export const reject = (): Answer => ({ status: 'rejected', feedback: 'Not this customer.' });
