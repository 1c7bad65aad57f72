import type { World } from '../world.ts';

export const PASSWORD = 'correct horse battery';

/** Keeps cookies as a browser does, and shows what was set. */
export class Browser {
  readonly cookies = new Map<string, string>();
  /** The `Set-Cookie` headers of the last reply. */
  set: string[] = [];
  readonly #world: World;
  readonly #headers: Record<string, string>;

  constructor(world: World, headers: Record<string, string> = {}) {
    this.#world = world;
    this.#headers = headers;
  }

  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const reply = await fetch(this.#world.url + path, {
      method,
      headers: {
        ...this.#headers,
        ...(cookie === '' ? {} : { cookie }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    this.set = reply.headers.getSetCookie();
    for (const line of this.set) this.#keep(line);
    return reply;
  }

  login(email = 'owner@example.com', password = PASSWORD, more: object = {}): Promise<Response> {
    return this.send('POST', '/desk/session', { email, password, ...more });
  }

  #keep(line: string): void {
    const [pair = ''] = line.split(';');
    const [name = '', value = ''] = pair.split('=');
    if (value === '' || /Max-Age=0|Expires=Thu, 01 Jan 1970/i.test(line)) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}
