import { createHmac } from 'node:crypto';
import { requestText } from './raw.ts';
import { AGENT } from './server.ts';
import { type Reply, readReply } from './wake.ts';

export const WEBHOOK_SECRET = 'dev-secret';

export type Envelope = { event_id: string; source: { producer_id?: string } } & Record<string, unknown>;
export type Page = { events: Envelope[]; next_cursor: string; has_more: boolean };

export function sampleEvent(event_id: string, over: Record<string, unknown> = {}): Envelope {
  return {
    spec: 'akep.v1',
    event_id,
    event_type: 'knowledge.acquired',
    occurred_at: '2026-05-18T03:00:00Z',
    source: { name: 'demo', type: 'system' },
    subject: { task_id: 't_1' },
    knowledge: { kind: 'observation', content_type: 'text/plain', summary: 'hello AKEP' },
    routing: { resume_policy: 'append_only' },
    ...over,
  } as Envelope;
}

/** What a producer sends with a body: it signs for this very second. */
function signatureHeaders(
  id: string,
  body: string,
  secret: string | Buffer = WEBHOOK_SECRET,
): Record<string, string> {
  const seconds = Math.floor(Date.now() / 1000);
  const mac = createHmac('sha256', secret).update(`${id}.${seconds}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${mac}`,
  };
}

/** The whole request as text: several in one write are read in one turn of the server's loop. */
export function eventRequest(event: Envelope): string {
  const body = JSON.stringify(event);
  const headers = {
    host: 'localhost',
    ...signatureHeaders(event.event_id, body),
    'content-length': Buffer.byteLength(body),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return requestText('POST /akep/events HTTP/1.1', lines, body);
}

/** Both sides of AKEP over plain fetch: the producer of the environment, and the first agent's inbox. */
export class AkepClient {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async send(
    event: Envelope,
    secret: string | Buffer = WEBHOOK_SECRET,
  ): Promise<Reply<{ duplicate: boolean }>> {
    const body = JSON.stringify(event);
    const response = await fetch(`${this.#url}/akep/events`, {
      method: 'POST',
      headers: signatureHeaders(event.event_id, body, secret),
      body,
    });
    return readReply(response);
  }

  /** Sends what must be taken. */
  async sent(event: Envelope): Promise<void> {
    const { status, text } = await this.send(event);
    if (status !== 202) throw new Error(`the event was refused: ${status} ${text}`);
  }

  /** As the agent. */
  async request<T>(method: string, path: string, body?: unknown): Promise<Reply<T>> {
    const response = await fetch(this.#url + path, {
      method,
      headers: { authorization: `Bearer ${AGENT.key}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return readReply<T>(response);
  }

  async page(cursor: string | null, limit = 100, path = '/akep/events'): Promise<Reply<Page>> {
    const query = new URLSearchParams({ limit: String(limit), ...(cursor === null ? {} : { cursor }) });
    if (path.endsWith('/wait')) query.set('timeout_seconds', '5');
    return this.request<Page>('GET', `${path}?${query}`);
  }

  /** The whole inbox, in its order. */
  async all(): Promise<string[]> {
    const ids: string[] = [];
    let cursor: string | null = null;
    for (;;) {
      const { status, text, json }: Reply<Page> = await this.page(cursor, 1000);
      if (status !== 200) throw new Error(`the inbox was not shown: ${status} ${text}`);
      ids.push(...json.events.map((event) => event.event_id));
      cursor = json.next_cursor;
      if (!json.has_more) return ids;
    }
  }
}
