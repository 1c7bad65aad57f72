import type { FastifyInstance } from 'fastify';
import { Fault } from '../core/faults.ts';
import { SESSIONS } from '../core/people/login/login.ts';
import type { Person } from '../core/people/person.ts';
import { bearerOf } from '../http/entry/agent-key.ts';
import { isOwnOrigin } from '../http/entry/origin.ts';
import type { Shell } from '../http/shell.ts';
import { SharedLooks } from '../http/waiting/shared-looks.ts';
import { HEARTBEAT_SECONDS } from '../http/waiting/sse.ts';
import { requirePerson, sessionCookie } from './auth.ts';
import { Backlog, EVERYTHING } from './backlog.ts';
import { endOfLedger } from './ledger-end.ts';
import { caller } from './person.ts';

/** An event and not a comment, because the page must notice it: a dead connection looks like a quiet one. */
const BEAT = 'event: beat\ndata: {}\n\n';

/** Live updates: what changed, by name; the page asks for the rest. */
export function streamRoutes(app: FastifyInstance, shell: Shell): void {
  // Shared, so that a person with many tabs or streams costs one look per change and not one for each.
  const looks = new SharedLooks<Person | null>(shell.wakeups);
  app.get('/desk/stream', async (request, reply) => {
    const { origin } = request.headers;
    if (origin !== undefined && !isOwnOrigin(shell, request, origin)) {
      throw new Fault('cross_site', 'Live updates are for the desk itself.');
    }
    const { space } = caller(request);
    const stream = shell.streams.open(reply, () => off(), { beat: BEAT });
    const off = shell.wakeups.on(`desk:${space}`, (about) => {
      void tell(about);
    });
    // A session that was ended elsewhere must stop listening.
    const tell = async (about: ReadonlySet<string>) => {
      const secret = bearerOf(request) ?? sessionCookie(shell, request) ?? '';
      const look = () => requirePerson(shell, request).catch(() => null);
      const person = await looks.ask(`desk:${space}`, secret, look);
      if (person === null) return stream.close();
      backlog.add([...about].filter((name) => name !== SESSIONS).map((name) => name || EVERYTHING));
    };
    const backlog = new Backlog(async (name) => {
      await greeted;
      await stream.sendWhenReady({ event: 'change', data: JSON.stringify({ about: name }) });
    });
    // Read after we listen: whatever is not in it will be announced. A page that has already seen this much has
    // missed nothing.
    const greeted = shell.room.store.read(space, endOfLedger).then(
      (seq) => void stream.send({ event: 'hello', data: hello(space, seq) }),
      () => stream.close(),
    );
    return reply;
  });
}

const hello = (space: string, seq: number) =>
  JSON.stringify({ space, ledger_seq: seq, beat_seconds: HEARTBEAT_SECONDS });
