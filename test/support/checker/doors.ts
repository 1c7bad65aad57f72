import { AkepClient } from '../akep.ts';
import type { Desk } from '../desk.ts';
import type { Seeded } from '../random.ts';
import { AGENT } from '../server.ts';
import { type Reply, WakeClient } from '../wake.ts';

/** Long enough for a server that was frozen for a while, short enough for a client to move on. */
const PATIENCE_MS = 30_000;

/** A reply that nobody should ever get, whatever the fault. */
export class Finding extends Error {}

/** No answer, or one that promises nothing: the client asks again later. */
export class NoAnswer extends Error {}

/** All servers there are; every request goes to any of them, as behind a balancer. */
export class Doors {
  urls: readonly string[];
  /** Two people, each with a session of their own. */
  readonly people: readonly Desk[];
  readonly #random: Seeded;

  constructor(urls: readonly string[], people: readonly Desk[], random: Seeded) {
    this.urls = urls;
    this.people = people;
    this.#random = random;
  }

  url(): string {
    const url = this.#random.pick(this.urls);
    if (url === undefined) throw new NoAnswer('no server is left');
    return url;
  }

  wake(key: string = AGENT.key): WakeClient {
    return new WakeClient(this.url(), key);
  }

  akep(): AkepClient {
    return new AkepClient(this.url());
  }

  desk(person = this.#random.below(this.people.length)): Desk {
    const desk = this.people[person];
    if (desk === undefined) throw new Error('there is nobody at the desk');
    return desk.at(this.url());
  }
}

/**
 * Waits for a reply with one of these statuses. 502 to 504 and 507 promise nothing and are a client's everyday; any
 * other status is a finding.
 */
export async function answered<T>(
  what: string,
  asking: Promise<Reply<T>>,
  statuses: readonly number[],
): Promise<Reply<T>> {
  const reply = await inTime(what, asking);
  if (statuses.includes(reply.status)) return reply;
  if ([502, 503, 504, 507].includes(reply.status)) throw new NoAnswer(`${what}: ${reply.status}`);
  throw new Finding(`${what}: ${reply.status} ${reply.text.slice(0, 500)}`);
}

/** A server that is gone makes fetch fail with a TypeError; one that stands still makes nobody wait for ever. */
export async function inTime<T>(what: string, asking: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NoAnswer(`${what}: no answer`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([asking, late]);
  } catch (reason) {
    if (reason instanceof TypeError) throw new NoAnswer(`${what}: ${reason.message}`);
    throw reason;
  } finally {
    clearTimeout(timer);
    asking.catch(() => {});
  }
}
