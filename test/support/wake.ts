export type Reply<T = Record<string, unknown>> = { status: number; headers: Headers; text: string; json: T };

export type ResponseBody = {
  delivery_id: string;
  status: string;
  feedback: string | null;
  edited_content: unknown;
  responded_at: string | null;
};
export type SweepBody = {
  deliveries: ResponseBody[];
  total: number;
  has_more: boolean;
  next_since: string | null;
};

/** What came back, read to its end. */
export async function readReply<T>(response: Response): Promise<Reply<T>> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parse(text) as T };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** WAKE over plain fetch: it shows statuses and bytes as they are, and repeats nothing by itself. */
export class WakeClient {
  readonly #url: string;
  readonly #key: string;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  async request<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    const response = await fetch(`${this.#url}/wake/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#key}`, ...json, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return readReply<T>(response);
  }

  deliver(over: Record<string, unknown> = {}, idempotencyKey?: string) {
    const headers: Record<string, string> =
      idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    return this.request<{ delivery_id: string }>('POST', '/deliver', sampleDelivery(over), headers);
  }

  /** Delivers what must be accepted, and returns its id. */
  async delivered(over: Record<string, unknown> = {}): Promise<string> {
    const { status, text, json } = await this.deliver(over);
    if (status !== 201) throw new Error(`the delivery was refused: ${status} ${text}`);
    return json.delivery_id;
  }

  response(id: string, waitSeconds = 0) {
    return this.request<ResponseBody>(
      'GET',
      `/response/${id}${waitSeconds > 0 ? `?wait=${waitSeconds}` : ''}`,
    );
  }

  sweep(query: Record<string, string>) {
    return this.request<SweepBody>('GET', `/responses?${new URLSearchParams(query)}`);
  }

  withdraw(id: string, reason: string) {
    return this.request<ResponseBody>('POST', `/withdraw/${id}`, { reason });
  }
}

export function sampleDelivery(over: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    agent_id: 'agent-01',
    provider: 'claude',
    type: 'question',
    headline: 'May I send the newsletter?',
    summary: 'The draft is ready and goes to 1200 readers.',
    details: { draft: 'Dear readers', readers: 1200 },
    timeout_seconds: 3600,
    ...over,
  };
}
