import { describe, expect, test } from 'vitest';
import { wordDigest } from '../../core/people/preferences/digest.ts';
import { DAY, HOUR, SECOND } from '../../core/time.ts';
import { body, openDesk, status } from '../../testing/desk/desk.ts';
import { PUBLIC, PublicStage } from '../../testing/network/outbound.ts';
import { bodyOf, certificate, httpsReceiver, signal } from '../../testing/network/receivers.ts';
import { type Mail, mailServer } from '../../testing/network/smtp.ts';
import type { World } from '../../testing/world.ts';

const EVERY_DAY = [1, 2, 3, 4, 5, 6, 7];
const WEBHOOK = { kind: 'webhook', target: 'https://receiver.test/in?key=secret' };

type Digest = { subject: string; text: string; headlines: string[] };

/** Digests as they arrive, one after the other. */
class Mailbox {
  readonly got: Digest[] = [];
  #arrival = signal();
  answer = 200;

  take(digest: Digest): void {
    this.got.push(digest);
    this.#arrival.fire();
  }

  async next(): Promise<void> {
    await this.#arrival.seen;
    this.#arrival = signal();
  }
}

async function open(preferences: Record<string, unknown> = {}) {
  const box = new Mailbox();
  const receiver = await httpsReceiver(
    certificate('receiver'),
    async (req, res) => {
      const text = await bodyOf(req);
      res.writeHead(box.answer).end();
      box.take(JSON.parse(text));
    },
    PUBLIC,
  );
  const { world, clock } = await openDesk({ outbound: () => new PublicStage(receiver) });
  const sittings = [{ days: EVERY_DAY, at: '09:30' }];
  await body(world.desk('PUT', '/desk/preferences', { sittings, digest: WEBHOOK, ...preferences }));
  return { world, clock, box };
}

/** What the ledger knows of digests, newest first. */
async function lines(world: World): Promise<{ action: string; data: Record<string, unknown> }[]> {
  type Page = { entries: { action: string; data: Record<string, unknown> }[] };
  return (await body<Page>(world.desk('GET', '/desk/audit?action=digest'))).entries;
}

/** Turns the clock, and makes the sender look again, because its own timer runs on real time. */
function pass(world: World, micros: number): void {
  world.clock?.turn(micros);
  world.running.ground.data.store.signals.tell(new Map([['jobs', new Set([''])]]));
}

/** Waits until an attempt is on the record. */
async function attempted(world: World, times: number): Promise<Record<string, unknown>> {
  for (;;) {
    const woken = new Promise<void>((resolve) => {
      const off = world.running.ground.data.store.signals.on('jobs', () => {
        off();
        resolve();
      });
    });
    const found = (await lines(world)).filter((l) => l.action === 'digest.attempted');
    if (found.length >= times) return found[0]?.data ?? {};
    await woken;
  }
}

describe('the digest', () => {
  test('[D46] is off until a person turns it on', async () => {
    const { world } = await openDesk();
    await world.deliver();
    const sittings = [{ days: EVERY_DAY, at: '09:30' }];
    await body(world.desk('PUT', '/desk/preferences', { sittings }));
    await world.tick(3 * DAY);
    expect(await lines(world)).toEqual([]);
  });

  test('[D46] goes out at the sitting: headlines only, one line each, and no link', async () => {
    const { world, box } = await open();
    await world.deliver({
      headline: 'Look at https://evil.example/approve now',
      details: { secret: 'canary' },
    });
    await world.deliver({ type: 'alert', headline: 'Disk is full' });
    await world.deliver({ type: 'update', headline: 'Only to read' });
    await world.tick(29 * 60 * SECOND);
    expect(await lines(world)).toEqual([]);
    await world.tick(60 * SECOND);
    await box.next();
    const [digest] = box.got;
    expect(digest?.subject).toBe('3 things need you');
    expect(digest?.headlines).toEqual([
      'Look at https: //evil. example/approve now (agent-01)',
      'Disk is full (agent-01)',
      'Only to read (agent-01)',
    ]);
    expect(JSON.stringify(digest)).not.toMatch(/:\/\/|canary|summary|delivery_id/);
  });

  test('[D46] comes once for each sitting, also over a restart', async () => {
    const { world, clock, box } = await open();
    await world.deliver();
    await world.tick(30 * 60 * SECOND);
    await box.next();
    await attempted(world, 1);
    await world.tick(1);
    await world.restart();
    await world.running.ticker.tick();
    clock.turn(DAY);
    await world.running.ticker.tick();
    await box.next();
    await attempted(world, 2);
    expect(box.got).toHaveLength(2);
    expect((await lines(world)).filter((l) => l.action === 'digest.queued')).toHaveLength(2);
  });

  test('[D46] a sitting that came while the server was down is made up for, once for all', async () => {
    const { world, clock, box } = await open();
    await world.deliver();
    await world.restart(() => clock.turn(3 * DAY));
    await world.running.ticker.tick();
    await box.next();
    await attempted(world, 1);
    await world.running.ticker.tick();
    expect((await lines(world)).filter((l) => l.action === 'digest.queued')).toHaveLength(1);
  });

  test('[D46] says nothing when nothing waits, nor inside quiet hours', async () => {
    const { world } = await open();
    await world.tick(HOUR);
    expect(await lines(world)).toEqual([]);
    await world.deliver();
    await body(world.desk('PUT', '/desk/preferences', { quiet: { from: '09:00', to: '10:00' } }));
    await world.tick(3 * DAY);
    expect(await lines(world)).toEqual([]);
  });

  test('[D46] is not sent any more once it was turned off, not even as a retry', async () => {
    const { world, box } = await open();
    box.answer = 500;
    await world.deliver();
    await world.tick(30 * 60 * SECOND);
    await attempted(world, 1);
    await body(world.desk('PUT', '/desk/preferences', { digest: { kind: 'off' } }));
    pass(world, 10 * SECOND);
    expect(await attempted(world, 2)).toMatchObject({ outcome: 'switched_off', state: 'gone' });
    expect(box.got).toHaveLength(1);
  });

  test('[D46] a retry does not break the quiet hours', async () => {
    const { world, box } = await open({ quiet: { from: '09:31', to: '10:00' } });
    box.answer = 500;
    await world.deliver();
    await world.tick(30 * 60 * SECOND);
    await attempted(world, 1);
    pass(world, 61 * SECOND);
    expect(await attempted(world, 2)).toMatchObject({ outcome: 'quiet_hours', state: 'gone' });
    expect(box.got).toHaveLength(1);
  });

  test('[D46] a digest is not a callback: it cannot be sent again by hand', async () => {
    const { world, box } = await open();
    await world.deliver();
    await world.tick(30 * 60 * SECOND);
    await box.next();
    const { job } = await attempted(world, 1);
    expect(await status(world.desk('POST', `/desk/callbacks/${job}/send-again`))).toBe(404);
  });
});

describe('by e-mail', () => {
  async function openMail(reply?: () => string) {
    const arrived = signal<Mail>();
    const server = await mailServer(arrived.fire, reply);
    const env = { LANTERNROOM_SMTP_URL: `smtp://127.0.0.1:${server.port}?from=desk@example.com` };
    const { world } = await openDesk({ env });
    const sittings = [{ days: EVERY_DAY, at: '09:30' }];
    const digest = { kind: 'email', target: 'me@example.com' };
    await body(world.desk('PUT', '/desk/preferences', { sittings, digest }));
    return { world, arrived };
  }

  test('[D46] one plain letter, to one reader', async () => {
    const { world, arrived } = await openMail();
    await world.deliver({ headline: 'May I send the newsletter?' });
    await world.tick(30 * 60 * SECOND);
    const mail = await arrived.seen;
    expect([mail.from, mail.to]).toEqual(['desk@example.com', ['me@example.com']]);
    expect(mail.data).toContain('Subject: One thing needs you');
    expect(mail.data).toContain('- May I send the newsletter? (agent-01)');
    expect(mail.data).not.toMatch(/https?:|text\/html/);
    expect(await attempted(world, 1)).toMatchObject({ outcome: 'answered', status: 250, state: 'done' });
  });

  test('[D46] a mail server that refuses is tried again, four times in all', async () => {
    const { world } = await openMail(() => '451 later');
    await world.deliver();
    await world.tick(30 * 60 * SECOND);
    expect(await attempted(world, 1)).toMatchObject({ status: 451, state: 'due' });
    for (const [times, wait] of [
      [2, 10 * SECOND],
      [3, 10 * 60 * SECOND],
      [4, HOUR],
    ] as const) {
      pass(world, wait);
      await attempted(world, times);
    }
    expect(await attempted(world, 4)).toMatchObject({ state: 'given_up' });
  });

  test('[D39] can be chosen when there is a mail server, and the page is told so', async () => {
    const { world } = await openMail();
    expect(await body(world.desk('GET', '/desk/settings'))).toMatchObject({ mail: true });
    const reply = await world.desk('PUT', '/desk/preferences', {
      digest: { kind: 'email', target: 'nobody' },
    });
    expect(reply.status).toBe(422);
  });
});

test('[D46] a long list ends with how many more there are', () => {
  const { text } = wordDigest([{ agent: 'a', headline: 'One' }], 12);
  expect(text).toBe('12 things need you.\n\n- One (a)\n… and 11 more.\n');
});

test.each([
  ['Log in at evil.example/login', 'Log in at evil. example/login'],
  ['WWW.EVIL.EXAMPLE', 'WWW. EVIL. EXAMPLE'],
  ['write to ana@xn--e1afmkfd.example', 'write to ana@xn--e1afmkfd. example'],
  ['пример.рф', 'пример. рф'],
  ['Ship 1.2.3? 3.5 GB, e.g. now. Yes.', 'Ship 1.2.3? 3.5 GB, e.g. now. Yes.'],
])('[D46] no mail program makes a link of a headline: %s', (headline, line) => {
  expect(wordDigest([{ agent: 'a', headline }], 1).headlines).toEqual([`${line} (a)`]);
});
