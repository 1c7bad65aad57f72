import type { Answer, Desk } from '../support/desk.ts';
import { temporaryFolder } from '../support/folder.ts';
import { AGENT, newAgent, Server, sharedServer, type TestAgent } from '../support/server.ts';
import { given, until } from '../support/until.ts';

type Row = {
  agent_id: string;
  delivery_id: string;
  status: string;
  state: string;
  headline: string;
  summary: string;
};

const OPTIONS = { env: { LANTERNROOM_UNDO_SECONDS: '0' } };

/** A server for the tests of a file; each opens a workplace of its own on it. */
export function sharedWorkplaces(): () => Promise<Workplace> {
  const server = sharedServer(OPTIONS);
  let desk: Promise<Desk> | undefined;
  return async () => {
    desk ??= server().desk();
    return new Workplace(server(), await desk, await newAgent(await desk));
  };
}

/** A developer's machine with its coding agent, and the person's desk. */
export class Workplace {
  readonly server: Server;
  readonly desk: Desk;
  readonly env: Record<string, string>;

  readonly agent: TestAgent;

  constructor(server: Server, desk: Desk, agent: TestAgent) {
    this.server = server;
    this.desk = desk;
    this.agent = agent;
    this.env = { HOME: temporaryFolder(), LANTERN_URL: server.url, WAKE_API_KEY: agent.key };
  }

  /** With a server of its own, to do harm to. */
  static async open(): Promise<Workplace> {
    const server = await Server.start(OPTIONS);
    return new Workplace(server, await server.desk(), AGENT);
  }

  /** What waits for the person now. */
  async waiting(): Promise<Row[]> {
    const { json } = await this.desk.request<{ deliveries: Row[] }>('GET', '/desk/deliveries');
    return json.deliveries.filter(
      ({ agent_id, status }) => agent_id === this.agent.id && status === 'pending',
    );
  }

  /** The one question that waits, once it is there. */
  async question(): Promise<Row> {
    const rows = await until('a question is on the desk', async () => {
      const rows = await this.waiting();
      return rows.length > 0 && rows;
    });
    if (rows.length > 1) throw new Error(`${rows.length} questions wait on the desk, not one`);
    return given(rows[0], 'question');
  }

  async answer(answer: Answer): Promise<string> {
    const { delivery_id } = await this.question();
    const { status, text } = await this.desk.decide(delivery_id, answer);
    if (status !== 200) throw new Error(`the decision was refused: ${status} ${text}`);
    return delivery_id;
  }
}
