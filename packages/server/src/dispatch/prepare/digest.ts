import { preferencesOf } from '../../core/people/preferences/choose.ts';
import { addressOf, type DigestText } from '../../core/people/preferences/digest.ts';
import { isQuiet } from '../../core/people/sittings/sittings.ts';
import type { Room } from '../../core/room.ts';
import type { Job } from '../../core/sending/job.ts';
import type { Request } from '../../core/store.ts';
import { SECOND } from '../../core/time.ts';
import type { Prepared } from './prepared.ts';

/** The person may have changed their mind since the sitting, and a retry may fall into their quiet hours. */
export async function prepareDigest(room: Room, job: Job, request: Request): Promise<Prepared> {
  const now = room.clock.now();
  const whose = { space: job.space, id: `${job.delivery}` };
  const { preferences } = await room.store.read(job.space, (tx) => preferencesOf(room, tx, whose));
  if (addressOf(preferences.digest) !== request.url) return { kind: 'over', outcome: 'switched_off' };
  if (isQuiet(preferences, now)) return { kind: 'over', outcome: 'quiet_hours' };
  return toDigestRequest(job, request, Math.floor(now / SECOND));
}

function toDigestRequest(job: Job, request: Request, seconds: number): Prepared {
  if (request.url.startsWith('mailto:')) {
    const { subject, text } = JSON.parse(request.body) as DigestText;
    return { kind: 'mail', letter: { id: job.id, to: request.url.slice('mailto:'.length), subject, text } };
  }
  return {
    kind: 'http',
    request: {
      url: request.url,
      method: 'POST',
      // The address is the secret here. The id lets a receiver drop what it has seen.
      headers: {
        'content-type': 'application/json',
        'webhook-id': job.id,
        'webhook-timestamp': String(seconds),
      },
      body: request.body,
      allowLoopback: false,
    },
  };
}
