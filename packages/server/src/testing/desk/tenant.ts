import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { SECOND } from '../../core/time.ts';
import { Laptop } from '../a2a/laptop.ts';
import { sampleDelivery, type World } from '../world.ts';
import { Authenticator } from './authenticator.ts';
import { Browser, PASSWORD } from './browser.ts';
import { body } from './desk.ts';

/** One space of a server that is shared, with an owner and an agent. Names and contents are the same in all of them. */
export class Tenant {
  readonly world: World;
  readonly handle: string;
  readonly token: string;
  readonly key: string;

  private constructor(world: World, handle: string, token: string, key: string) {
    this.world = world;
    this.handle = handle;
    this.token = token;
    this.key = key;
  }

  static home(world: World): Tenant {
    return new Tenant(world, 'home', world.token, world.agent.key);
  }

  static async add(world: World, handle: string): Promise<Tenant> {
    const space = await world.addSpace(handle);
    const { token } = await world.addPerson(`${handle}@example.com`, 'owner', space);
    const made = await world.addAgent({ id: 'agent-01', space: space.id });
    return new Tenant(world, handle, token, made.key);
  }

  desk(method: string, path: string, sent?: unknown): Promise<Response> {
    return this.world.desk(method, path, sent, this.token);
  }

  async deliver(over: Record<string, unknown> = {}): Promise<string> {
    const sent = { ...sampleDelivery('agent-01'), ...over };
    return (await body<{ delivery_id: string }>(this.world.post('/wake/v1/deliver', sent, this.key)))
      .delivery_id;
  }

  async hashOf(id: string): Promise<string> {
    return (await body<{ content_sha256: string }>(this.desk('GET', `/desk/deliveries/${id}`)))
      .content_sha256;
  }

  async decided(over: Record<string, unknown> = {}): Promise<string> {
    const id = await this.deliver(over);
    await body(this.world.decide(id, { status: 'approved' }, this.token));
    return id;
  }

  /** The id of a callback that is on its way to nobody. */
  async callback(): Promise<string> {
    const callbacks = ['http://127.0.0.1:9'];
    await body(this.desk('PUT', '/desk/agents/agent-01/callbacks', { callbacks }));
    const id = await this.decided({ callback_webhook: 'http://127.0.0.1:9/hook' });
    await this.world.tick(10 * SECOND);
    const shown = await body<{ callbacks: { job_id: string }[] }>(this.desk('GET', `/desk/deliveries/${id}`));
    return shown.callbacks[0]?.job_id ?? '';
  }

  async agent(): Promise<{ id: string; key: string }> {
    const id = `agent-${randomUUID()}`;
    const made = await body<{ keys: { key_id: string }[] }>(
      this.desk('POST', '/desk/agents', { agent_id: id }),
    );
    return { id, key: made.keys[0]?.key_id ?? '' };
  }

  /** A task of the tenant's agent that is being worked on, and the laptop that does. */
  async task(): Promise<{ id: string; laptop: Laptop }> {
    const laptop = await Laptop.connect(this.world.url, this.key);
    onTestFinished(() => laptop.vanish());
    const message = { messageId: randomUUID(), role: 'user', parts: [{ kind: 'text', text: 'Do it.' }] };
    const params = { message: { kind: 'message', ...message }, configuration: { blocking: false } };
    const sent = await body<{ result: { id: string } }>(
      this.world.post(
        `/@${this.handle}/agent-01`,
        { jsonrpc: '2.0', id: 1, method: 'message/send', params },
        this.key,
      ),
    );
    return { id: sent.result.id, laptop };
  }

  async person(): Promise<string> {
    const sent = { email: `${randomUUID()}@example.com`, role: 'reader', password: PASSWORD };
    return (await body<{ person_id: string }>(this.desk('POST', '/desk/people', sent))).person_id;
  }

  /** Where the owner has just logged in. */
  async browser(): Promise<Browser> {
    const email = this.handle === 'home' ? 'owner@example.com' : `${this.handle}@example.com`;
    const browser = new Browser(this.world);
    await body(browser.login(email));
    return browser;
  }

  async passkey(): Promise<string> {
    const browser = await this.browser();
    const device = new Authenticator(`http://localhost:${new URL(this.world.url).port}`);
    const asked = await body<{ challenge: string }>(browser.send('POST', '/desk/passkeys/challenge', {}));
    const sent = { name: 'laptop', response: device.make(asked) };
    return (await body<{ passkey_id: string }>(browser.send('POST', '/desk/passkeys', sent))).passkey_id;
  }

  /** The id of one of the owner's sessions. */
  async session(): Promise<string> {
    await this.browser();
    const { sessions } = await body<{ sessions: { session_id: string }[] }>(
      this.desk('GET', '/desk/sessions'),
    );
    return sessions.at(-1)?.session_id ?? '';
  }
}
