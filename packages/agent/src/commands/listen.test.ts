import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Said, type Seen, startWorld } from '../testing/room.ts';

const event = (id: string, event_type = 'tool.completed') => ({
  spec: 'akep.v1',
  event_id: id,
  event_type,
  occurred_at: '2026-03-08T12:00:00.000Z',
  source: { producer_id: 'prod_exporter', name: 'exporter', type: 'tool' },
  subject: { task_id: 'task_42' },
  knowledge: {
    kind: 'tool_result',
    content_type: 'text/plain',
    summary: `About ${id}\u001b[2J\nin two lines`,
  },
  routing: { resume_policy: 'resume_if_waiting' },
});
const RESUME = {
  resume_id: 'res_1',
  event_id: 'evt_1',
  wait_id: 'wait_1',
  run_state_ref: 'runs/42.json',
  decision: 'resume',
  reason: 'An open wait matches.',
  out_of_order: false,
};

/** An inbox in the server's words; cursors are positions. */
function inbox(events: readonly object[], resumes: readonly object[] = []) {
  return (seen: Seen): Said => {
    const url = new URL(seen.url, 'http://room');
    if (seen.method === 'POST') return { status: 200 };
    if (url.pathname === '/akep/events/evt_1')
      return { status: 200, body: { event: event('evt_1'), cursor: '1', ack: null } };
    const list = url.pathname === '/akep/resumes' ? { resumes } : { events };
    const [name = '', all = []] = Object.entries(list)[0] ?? [];
    const from = Number(url.searchParams.get('cursor') ?? 0);
    return {
      status: 200,
      body: { [name]: all.slice(from), next_cursor: String(all.length), has_more: false },
    };
  };
}

async function worldWith(events: readonly object[], resumes: readonly object[] = []) {
  const world = await startWorld(inbox(events, resumes));
  const acks = () =>
    world.seen
      .filter((seen) => seen.method === 'POST')
      .map((seen) => ({ id: seen.url.split('/')[3], ...JSON.parse(seen.body) }));
  return { ...world, acks, file: (name: string) => join(world.folder, name) };
}

const TWO = [event('evt_1'), event('evt_2', 'human.approved')];

describe('lantern listen --exec', () => {
  it('[K13] what the command leaves running in the background is not waited for', async () => {
    const world = await worldWith(TWO);
    const pids = world.file('pids');
    onTestFinished(() => {
      for (const pid of readFileSync(pids, 'utf8').trim().split('\n')) process.kill(Number(pid));
    });
    const exec = `sleep 3000 & echo $! >> ${pids}; echo taken; echo why >&2; exit 10`;
    const { code, out } = await world.run(['listen', '--once', '--exec', exec]);
    expect({ code, out }).toEqual({ code: 0, out: 'taken\ntaken\n' });
    expect(world.acks()).toMatchObject([
      { id: 'evt_1', status: 'rejected', reason: 'why' },
      { id: 'evt_2', status: 'rejected', reason: 'why' },
    ]);
  });

  it('[K13] each event is on standard input, and exit code 0 acknowledges it as applied', async () => {
    const world = await worldWith(TWO);
    const ran = await world.run(['listen', '--once', '--exec', `cat >> ${world.file('taken')}; echo done`]);
    expect(ran).toEqual({ code: 0, out: 'done\ndone\n', err: '' });
    const lines = readFileSync(world.file('taken'), 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(TWO.map((one) => ({ type: 'event', event: one })));
    expect(world.acks()).toMatchObject([
      { id: 'evt_1', status: 'applied' },
      { id: 'evt_2', status: 'applied' },
    ]);
  });

  it('[K13] exit code 10 rejects, with the end of standard error as the reason', async () => {
    const world = await worldWith(TWO.slice(0, 1));
    const { code, err } = await world.run(['listen', '--once', '--exec', 'echo "Not for me." >&2; exit 10']);
    expect({ code, err }).toEqual({ code: 0, err: 'Not for me.\n' });
    expect(world.acks()).toMatchObject([{ id: 'evt_1', status: 'rejected', reason: 'Not for me.' }]);
  });

  it('[K13] the reason does not begin in the middle of a character, which nobody would take', async () => {
    const world = await worldWith(TWO.slice(0, 1));
    const says = `printf '%sx' ${'🏮'.repeat(600)} >&2; exit 10`;
    expect((await world.run(['listen', '--once', '--exec', says])).code).toBe(0);
    expect(world.acks()).toMatchObject([{ status: 'rejected', reason: `${'🏮'.repeat(499)}x` }]);
  });

  it('[K13] any other code is tried again, with pauses, and then acknowledged', async () => {
    const world = await worldWith(TWO.slice(0, 1));
    const fails = `echo x >> ${world.file('tries')}; test $(wc -l < ${world.file('tries')}) -ge 3`;
    const { code, err } = await world.run(['listen', '--once', '--exec', fails]);
    expect(code).toBe(0);
    expect(err).toMatch(/evt_1: .*code 1; trying again in 1 s\.\nevt_1: .*in 2 s\.\n/);
    expect(world.acks()).toMatchObject([{ status: 'applied' }]);
  });

  it('[K13] and at last the listener ends with 1, the event unacknowledged and first in line', async () => {
    const world = await worldWith(TWO);
    const argv = ['listen', '--once', '--retries', '1', '--exec'];
    const { code, err } = await world.run([...argv, 'exit 7']);
    expect(code).toBe(1);
    expect(err.trim().split('\n').at(-1)).toMatch(
      /^lantern: The command ended with code 7 on evt_1, 2 times: .*10/,
    );
    expect(world.acks()).toEqual([]);
    await world.run([...argv, `cat >> ${world.file('taken')}`]);
    expect(world.acks().map(({ id }) => id)).toEqual(['evt_1', 'evt_2']);
  });

  it('[K13] a command that is not there or dies of a signal is a failure, not an answer', async () => {
    const world = await worldWith(TWO.slice(0, 1));
    for (const exec of ['/no/such/command', 'kill -9 $$']) {
      const { code } = await world.run(['listen', '--once', '--retries', '0', '--exec', exec]);
      expect(code).toBe(1);
    }
    expect(world.acks()).toEqual([]);
  });

  it('[K21] resumes come after the events, with the event that caused them', async () => {
    const world = await worldWith(TWO.slice(0, 1), [RESUME]);
    await world.run(['listen', '--once', '--exec', `cat >> ${world.file('taken')}`]);
    const lines = readFileSync(world.file('taken'), 'utf8').trim().split('\n');
    expect(JSON.parse(lines[1] ?? '')).toEqual({ type: 'resume', resume: RESUME, event: event('evt_1') });
    expect(readFileSync(world.log, 'utf8')).toContain('"event":"resume"');
  });

  it('[K11] --once for cron: what was taken does not come again, also without --cursor-file', async () => {
    const world = await worldWith(TWO);
    const argv = ['listen', '--once', '--exec', `cat >> ${world.file('taken')}`];
    await world.run(argv);
    await world.run(argv);
    expect(readFileSync(world.file('taken'), 'utf8').trim().split('\n')).toHaveLength(2);
    await world.run([...argv, '--cursor-file', world.file('other.cursor')]);
    expect(readFileSync(world.file('taken'), 'utf8').trim().split('\n')).toHaveLength(4);
    expect(statSync(world.file('other.cursor')).mode & 0o777).toBe(0o600);
  });

  it('[K11] what was only printed is still handed to the command', async () => {
    const world = await worldWith(TWO);
    const looked = ['listen', '--once', '--json'];
    expect((await world.run(looked)).out.trim().split('\n')).toHaveLength(2);
    expect((await world.run(looked)).out).toBe('');
    await world.run(['listen', '--once', '--exec', `cat >> ${world.file('taken')}`]);
    expect(world.acks().map(({ id }) => id)).toEqual(['evt_1', 'evt_2']);
  });

  // An upgrade that looked elsewhere would hand everything that is kept to the command once more.
  it('[K11] a command continues from the place that earlier versions wrote', async () => {
    const world = await worldWith(TWO);
    const argv = ['listen', '--once', '--exec', `cat >> ${world.file('taken')}`];
    await world.run(argv);
    const cursors = world.file('.lantern/cursors');
    const [place = ''] = readdirSync(cursors);
    expect(place).toMatch(/^[0-9a-f]{16}\.json$/);
    await world.run(['listen', '--once', '--json']);
    expect(readdirSync(cursors).sort()).toEqual([place, place.replace('.json', '-shown.json')].sort());
  });

  it('[K12] a signal lets the running command finish, acknowledges, and ends with 0', async () => {
    const controller = new AbortController();
    const script = inbox(TWO);
    const world = await startWorld((seen) => {
      if (seen.url === '/akep/events/evt_1/ack') controller.abort();
      return script(seen);
    });
    const { code, err } = await world.run(['listen', '--exec', 'cat > /dev/null'], {
      stop: controller.signal,
    });
    expect(code).toBe(0);
    expect(world.seen.filter((seen) => seen.method === 'POST')).toHaveLength(1);
    expect(err).toBe(`Listening to the inbox at ${world.url}. Ctrl-C ends.\n`);
  });

  it('[K11] a cursor file of somebody else is one sentence', async () => {
    const world = await worldWith(TWO);
    writeFileSync(world.file('odd'), 'hello');
    const { code, err } = await world.run(['listen', '--once', '--cursor-file', world.file('odd')]);
    expect(code).toBe(1);
    expect(err.trim().split('\n')).toHaveLength(1);
  });
});

describe('lantern listen', () => {
  it('[K11] without --exec events are printed, safely, and stay unacknowledged', async () => {
    const world = await worldWith(TWO, [RESUME]);
    const { code, out } = await world.run(['listen', '--once', '--types', 'tool.completed']);
    expect(code).toBe(0);
    expect(out.split('\n')).toEqual([
      '2026-03-08T12:00:00.000Z  tool.completed  evt_1  About evt_1\ufffd[2J in two lines',
      'resume  runs/42.json  evt_1  An open wait matches.',
      '',
    ]);
    expect(world.acks()).toEqual([]);
  });

  it('[K11] --json prints lines as the command would get them', async () => {
    const world = await worldWith(TWO, [RESUME]);
    const { out } = await world.run(['listen', '--once', '--json']);
    const lines = out.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).type)).toEqual(['event', 'event', 'resume']);
  });

  it.each([[['--retries', 'many']], [['--types', 'a,,b']], [['surplus']]])(
    '[K13] %j is wrong usage',
    async (argv) => {
      const world = await worldWith([]);
      expect((await world.run(['listen', ...argv])).code).toBe(2);
      expect(world.seen).toEqual([]);
    },
  );

  it('[K11] a refused key ends with 1 and says what to do', async () => {
    const world = await startWorld(() => ({ status: 403, body: { error: 'This token is not valid here.' } }));
    const { code, err } = await world.run(['listen', '--exec', 'true']);
    expect(code).toBe(1);
    expect(err).toMatch(/^lantern: .*ask a person for a new key.*$/m);
  });

  it('[K13] help explains the exit codes by example', async () => {
    const world = await worldWith([]);
    const { code, out } = await world.run(['listen', '--help']);
    expect(code).toBe(0);
    expect(out).toMatch(/10 {5}never[\s\S]*Examples:\n {2}lantern listen --exec/);
  });
});
