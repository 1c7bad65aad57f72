import type { Delivery, Section } from '../../deliveries/delivery.ts';
import { MOST_COUNTED, total } from '../../deliveries/reading/overview.ts';
import type { PersonId, SpaceId } from '../../ids.ts';
import { type Room, record } from '../../room.ts';
import type { Job } from '../../sending/job.ts';
import type { Request, Tx } from '../../store.ts';
import type { Micros } from '../../time.ts';
import { isQuiet } from '../sittings/sittings.ts';
import { preferencesOf, toStored } from './choose.ts';
import { type Digest, digestAt, type Preferences } from './preferences.ts';

/** The sections that are worth sitting down for. */
const SECTIONS: readonly Section[] = ['needs_you', 'alerts', 'new_agents'];
const MOST_LINES = 30;

export type DigestText = { subject: string; text: string; headlines: string[] };

/**
 * A person's sitting has come. The next one is set in the same transaction that queues the digest, so that each
 * sitting has exactly one, whatever happens in between. After a long stop there is one digest for all sittings that
 * were missed.
 */
export function queueDigest(room: Room, space: SpaceId, person: PersonId): Promise<boolean> {
  return room.store.write(space, ['ledger'], async (tx) => {
    const now = room.clock.now();
    const owner = { space, id: person };
    const chosen = await preferencesOf(room, tx, owner);
    if (chosen.digestAt === null || chosen.digestAt > now) return false;
    const { preferences } = chosen;
    await tx.preferences.put(person, toStored(room, owner, preferences, digestAt(preferences, now)));
    const text = isQuiet(preferences, now) ? null : await digestText(tx);
    if (text === null) return false;
    await insertJob(room, tx, { person, preferences, text, now });
    return true;
  });
}

/** The next one, as if none had been planned. */
export async function planDigest(room: Room, tx: Tx, person: PersonId, now: Micros): Promise<void> {
  const owner = { space: tx.space, id: person };
  const { preferences } = await preferencesOf(room, tx, owner);
  await tx.preferences.put(person, toStored(room, owner, preferences, digestAt(preferences, now)));
}

type Queued = { person: PersonId; preferences: Preferences; text: DigestText; now: Micros };

async function insertJob(room: Room, tx: Tx, { person, preferences, text, now }: Queued): Promise<void> {
  const request = toRequest(preferences.digest, text);
  if (request === null) return;
  const job: Job = {
    space: tx.space,
    id: room.ids.timed(now),
    kind: 'digest',
    agent: '',
    delivery: `${person}`,
    origin: originOf(request.url),
    state: 'due',
    dueAt: now,
    attempts: 0,
    fence: 0,
    leasedUntil: null,
    createdAt: now,
  };
  await tx.jobs.insert(job, request);
  const data = { kind: preferences.digest.kind, headlines: text.headlines.length };
  await record(room, tx, now, { actor: 'system', action: 'digest.queued', subject: person, data });
  tx.announce('jobs');
}

/** The address that a digest goes to, as a job keeps it: e-mail is `mailto:`. */
export function addressOf({ kind, target }: Digest): string | null {
  if (kind === 'off' || target === null) return null;
  return kind === 'email' ? `mailto:${target}` : target;
}

function toRequest(digest: Digest, text: DigestText): Request | null {
  const url = addressOf(digest);
  return url === null ? null : { url, body: JSON.stringify(text) };
}

/** All mail goes through one server, so it counts as one receiver. */
function originOf(url: string): string {
  return url.startsWith('mailto:') ? 'mailto:' : new URL(url).origin;
}

/** Null when nothing waits: then no digest is sent. */
async function digestText(tx: Tx): Promise<DigestText | null> {
  let waiting = 0;
  const found: Delivery[] = [];
  for (const section of SECTIONS) {
    waiting += total(await tx.counts.waitingIn(section, MOST_COUNTED));
    found.push(...(await tx.deliveries.list({ section, limit: MOST_LINES })));
  }
  const open = found.filter((d) => d.state === 'pending').slice(0, MOST_LINES);
  return open.length === 0 ? null : wordDigest(open, waiting);
}

/** One line for each headline, and nothing to click: deciding happens at the desk. */
export function wordDigest(
  open: readonly Pick<Delivery, 'agent' | 'headline'>[],
  waiting: number,
): DigestText {
  const subject = waiting === 1 ? 'One thing needs you' : `${waiting} things need you`;
  const headlines = open.map((d) => `${withoutLinks(d.headline)} (${d.agent})`);
  const more = waiting - open.length;
  const lines = [...headlines.map((line) => `- ${line}`), ...(more > 0 ? [`… and ${more} more.`] : [])];
  return { subject, text: `${subject}.\n\n${lines.join('\n')}\n`, headlines };
}

/**
 * An agent's words, in a letter of ours: nothing in them may turn into a link on the way. Mail programs make one of any
 * name with a dot in it that could be a host's.
 */
function withoutLinks(headline: string): string {
  return headline.replaceAll('://', ': //').replace(/(?<=[\p{L}\p{N}])\.(?=\p{L}{2})/gu, '. ');
}
