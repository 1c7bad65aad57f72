import { randomUUID } from 'node:crypto';
import { SECOND } from '../core/time.ts';
import { Browser, PASSWORD } from './browser.ts';
import { body } from './desk.ts';
import { sampleDelivery, type World } from './world.ts';

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

  async person(): Promise<string> {
    const sent = { email: `${randomUUID()}@example.com`, role: 'reader', password: PASSWORD };
    return (await body<{ person_id: string }>(this.desk('POST', '/desk/people', sent))).person_id;
  }

  /** The id of one of the owner's sessions. */
  async session(): Promise<string> {
    const email = this.handle === 'home' ? 'owner@example.com' : `${this.handle}@example.com`;
    await body(new Browser(this.world).login(email));
    const { sessions } = await body<{ sessions: { session_id: string }[] }>(
      this.desk('GET', '/desk/sessions'),
    );
    return sessions.at(-1)?.session_id ?? '';
  }
}
