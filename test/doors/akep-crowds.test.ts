import { expect, test } from 'vitest';
import { AkepClient, eventRequest, sampleEvent, WEBHOOK_SECRET } from '../support/akep.ts';
import { Raw } from '../support/raw.ts';
import { Server } from '../support/server.ts';
import { pause } from '../support/until.ts';

/** The first crowd has the second thread started; it takes over after some of them. */
const ROUNDS = 60;
const PLAIN = 8;

const knowledge = { kind: 'observation', content_type: 'text/plain', summary: 'something else' };

function crowdOf(round: number) {
  const name = (what: string | number) => `evt_crowd_${String(round).padStart(3, '0')}_${what}`;
  const plain = Array.from({ length: PLAIN }, (_, n) =>
    sampleEvent(name(n), { routing: { resume_policy: 'resume_if_waiting' } }),
  );
  const [first = sampleEvent(name(0))] = plain;
  const conflict = sampleEvent(first.event_id, { knowledge });
  const review = sampleEvent(name('review'), { event_type: 'human.review_required' });
  return { kept: [...plain, review], sent: [...plain, first, conflict, review] };
}

test('[K8][K21][K29] a crowd is judged as single events are, whichever thread takes it in', async () => {
  const env = { AKEP_WEBHOOK_SECRET: WEBHOOK_SECRET, LANTERNROOM_RATE_PRODUCER: '0' };
  const server = await Server.start({ env });
  const client = new AkepClient(server.url);
  const connection = await Raw.connect(server.url);
  const kept: string[] = [];
  const waits: string[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const wanted = { subject: { task_id: 't_1' }, run_state_ref: `run-${round}` };
    waits.push((await client.request<{ wait_id: string }>('POST', '/akep/waits', wanted)).json.wait_id);
    const crowd = crowdOf(round);
    kept.push(...crowd.kept.map(({ event_id }) => event_id));
    await connection.write(crowd.sent.map(eventRequest).join(''));
    await connection.untilReplied(round * crowd.sent.length);
    await pause(10);
  }
  const plain = Array.from({ length: PLAIN }, () => 202);
  const statuses = Array.from({ length: ROUNDS }, () => [...plain, 202, 409, 202]).flat();
  expect(connection.statuses).toEqual(statuses);
  expect(connection.received.match(/"duplicate":true/g)).toHaveLength(ROUNDS);
  expect(await client.all()).toEqual(kept);
  const { json } = await client.request<{ resumes: { wait_id: string; event_id: string }[] }>(
    'GET',
    '/akep/resumes?limit=1000',
  );
  expect(json.resumes.map(({ wait_id }) => wait_id)).toEqual(waits);
  expect(json.resumes.map(({ event_id }) => event_id)).toEqual(kept.filter((id) => id.endsWith('_0')));
  const desk = await server.desk();
  const overview = await desk.request<{ deliveries: unknown[] }>(
    'GET',
    '/desk/deliveries?limit=100&from=2000-01-01T00:00:00Z',
  );
  expect(overview.json.deliveries).toHaveLength(ROUNDS);
});
