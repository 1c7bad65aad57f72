import { until } from './until.ts';
import { type Reply, readReply } from './wake.ts';

export type Attempt = { job_id: string; number: number; outcome: string; status: number | null };
export type Callback = { job_id: string; origin: string; state: string; attempts: number };
export type Decision = {
  status: string;
  state: string;
  feedback: string | null;
  edited_content: unknown;
};
export type Detail = {
  delivery_id: string;
  created_at: string;
  content_sha256: string;
  status: string;
  state: string;
  decision: Decision | null;
  decisions: Decision[];
  callbacks: Callback[];
  attempts: Attempt[];
};
export type Answer = { status: string; feedback?: string; edited_content?: unknown };

/** What a stream has said so far, and when it is over. */
export type Live = { text: () => string; ended: Promise<void> };

/** The desk's API as a script uses it: a session cookie, and plain fetch. */
export class Desk {
  readonly #url: string;
  readonly #credential: Record<string, string>;

  constructor(url: string, credential: Record<string, string>) {
    this.#url = url;
    this.#credential = credential;
  }

  static async login(url: string, who: { email: string; password: string }): Promise<Desk> {
    const response = await fetch(`${url}/desk/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(who),
    });
    const cookie = response.headers.get('set-cookie')?.split(';')[0];
    if (response.status !== 200 || cookie === undefined)
      throw new Error(`the login was refused: ${response.status} ${await response.text()}`);
    await response.arrayBuffer();
    return new Desk(url, { cookie });
  }

  /** The same session, on a server that has moved to another port. */
  at(url: string): Desk {
    return new Desk(url, this.#credential);
  }

  get cookie(): string {
    return this.#credential.cookie ?? '';
  }

  open(path: string): Promise<Response> {
    return fetch(`${this.#url}${path}`, { headers: this.#credential });
  }

  /** Its live updates, from the greeting on, read as they come. */
  async listen(): Promise<Live> {
    const response = await this.open('/desk/stream');
    let text = '';
    const read = async () => {
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
    };
    // A server that ends with the test cuts it off.
    const ended = read().catch(() => {});
    await until('the stream says hello', () => text.includes('event: hello'));
    return { text: () => text, ended };
  }

  async request<T>(method: string, path: string, body?: unknown): Promise<Reply<T>> {
    const json: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: { ...this.#credential, ...json },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return readReply<T>(response);
  }

  async detail(id: string): Promise<Detail> {
    const { status, text, json } = await this.request<Detail>('GET', `/desk/deliveries/${id}`);
    if (status !== 200) throw new Error(`the desk does not show ${id}: ${status} ${text}`);
    return json;
  }

  /** Decides on what is there now. */
  async decide(id: string, answer: Answer): Promise<Reply<{ state: string }>> {
    const { content_sha256 } = await this.detail(id);
    return this.request('POST', `/desk/deliveries/${id}/decision`, { ...answer, content_sha256 });
  }

  undo(id: string): Promise<Reply> {
    return this.request('DELETE', `/desk/deliveries/${id}/decision`);
  }
}
