import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { outputOf, type RunRequest, runOnce, sweepRuns } from './run.ts';
import { tailOf } from './stderr.ts';

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lantern-run-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function request(command: string, over: Partial<RunRequest> = {}): RunRequest {
  const { signal } = new AbortController();
  const folder = join(temporaryFolder(), 'run');
  const env = { PATH: process.env.PATH };
  return { folder, command, input: '{"n":1}\n', env, timeoutMs: null, graceMs: 5_000, signal, ...over };
}

const until = (look: () => void) => vi.waitFor(look, 120_000);

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return /^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}

describe('one run of a command', () => {
  it('[A15] gets its input, and leaves output, code and the end of standard error', async () => {
    const one = request('cat; echo note >&2; exit 3');
    expect(await runOnce(one)).toEqual({ kind: 'exited', code: 3 });
    expect([await outputOf(one.folder), await tailOf(one.folder)]).toEqual(['{"n":1}\n', 'note']);
  });

  it('[A15] a command that is not there ends with 127 and says so', async () => {
    const one = request('/no/such/command');
    expect(await runOnce(one)).toEqual({ kind: 'exited', code: 127 });
    expect(await tailOf(one.folder)).toMatch(/not found/);
  });

  it('[A15] only the end of a long standard error is kept', async () => {
    const one = request('yes failure | head -n 5000 >&2; echo "the end" >&2; exit 1');
    await runOnce(one);
    const tail = await tailOf(one.folder);
    expect(tail.endsWith('the end')).toBe(true);
    expect(tail.length).toBeLessThanOrEqual(1_000);
  });

  it('[A15] standard error does not fill the disk while the command runs, and its end stays', async () => {
    const file = join(temporaryFolder(), 'go');
    const flood = 'yes failure | head -c 20000000 >&2';
    const one = request(
      `${flood}; echo done; until test -e ${file}; do sleep 0.05; done; echo "the end" >&2`,
    );
    const running = runOnce(one);
    await until(() => expect(readFileSync(join(one.folder, 'out'), 'utf8')).toBe('done\n'));
    await until(() => expect(statSync(join(one.folder, 'err')).size).toBeLessThan(10_000_000));
    await writeFile(file, '');
    await running;
    expect(await tailOf(one.folder)).toMatch(/failure\nfailure\n[\s\S]*the end$/);
  });

  it('[A15] and it does not begin in the middle of a character', async () => {
    const one = request(`printf '%sx' ${'🏮'.repeat(600)} >&2; exit 1`);
    await runOnce(one);
    expect(await tailOf(one.folder)).toBe(`${'🏮'.repeat(499)}x`);
  });

  it('[A15] is not run again in a folder in which it was run', async () => {
    const file = join(temporaryFolder(), 'count');
    const one = request(`echo x >> ${file}; echo answer`);
    await runOnce(one);
    expect(await runOnce(one)).toEqual({ kind: 'exited', code: 0 });
    expect(await outputOf(one.folder)).toBe('answer\n');
    expect(readFileSync(file, 'utf8')).toBe('x\n');
  });

  it('[A15] runs once when two are after it at the same time', async () => {
    const file = join(temporaryFolder(), 'count');
    const one = request(`echo x >> ${file}; sleep 0.3; echo answer`);
    const ends = await Promise.all([runOnce(one), runOnce(one), runOnce(one)]);
    expect(ends).toEqual(Array.from({ length: 3 }, () => ({ kind: 'exited', code: 0 })));
    expect(readFileSync(file, 'utf8')).toBe('x\n');
  });

  it('[A15] a killed command is known by its signal, a killed keeper as vanished', async () => {
    expect(await runOnce(request('kill -9 $$'))).toEqual({ kind: 'exited', code: 137 });
    const one = request('kill -9 $PPID; sleep 60');
    expect(await runOnce(one)).toEqual({ kind: 'vanished' });
    process.kill(-Number(readFileSync(join(one.folder, 'pid'), 'utf8')), 'SIGKILL');
  });

  it('[A15] what began and has nobody who watches over it has vanished', async () => {
    const one = request('echo never');
    await mkdir(join(one.folder, 'started'), { recursive: true });
    await writeFile(join(one.folder, 'pid'), '999999999\n');
    expect(await runOnce(one)).toEqual({ kind: 'vanished' });
  });

  it('[A15] a cancelled one is asked to end with all its children, and may finish', async () => {
    const controller = new AbortController();
    const file = join(temporaryFolder(), 'pid');
    const command = `trap 'echo bye > ${file}.bye; exit 0' TERM; sleep 300 & echo $! > ${file}; wait`;
    const running = runOnce(request(command, { signal: controller.signal }));
    await until(() => expect(readFileSync(file, 'utf8')).toMatch(/\d\n/));
    controller.abort();
    expect(await running).toEqual({ kind: 'cancelled' });
    expect(isGone(Number(readFileSync(file, 'utf8')))).toBe(true);
    expect(existsSync(`${file}.bye`)).toBe(true);
  });

  it('[A15] one that does not listen is killed', async () => {
    const file = join(temporaryFolder(), 'pid');
    const command = `trap '' TERM; echo $$ > ${file}; while true; do sleep 1; done`;
    // Time enough to write its number down, also on a busy machine.
    const one = request(command, { timeoutMs: 3_000, graceMs: 300 });
    expect(await runOnce(one)).toEqual({ kind: 'timed_out' });
    const number = Number(readFileSync(file, 'utf8'));
    await until(() => expect(isGone(number)).toBe(true));
  });

  it('[A15] lines come while it runs, each once', async () => {
    const lines: [string, number][] = [];
    const file = join(temporaryFolder(), 'go');
    const command = `echo one; while ! test -e ${file}; do sleep 0.05; done; printf 'two\\nthr'`;
    const onLine = async (line: string, number: number) => {
      lines.push([line, number]);
      if (line === 'one') await writeFile(file, '');
    };
    expect(await runOnce(request(command, { onLine }))).toEqual({ kind: 'exited', code: 0 });
    expect(lines).toEqual([
      ['one', 1],
      ['two', 2],
    ]);
  });

  it('[A15] old runs are swept up, young ones stay', async () => {
    const runs = temporaryFolder();
    for (const name of ['old', 'young']) {
      await mkdir(join(runs, name));
      await writeFile(join(runs, name, 'exit'), '0');
    }
    utimesSync(join(runs, 'old', 'exit'), 1_000_000, 1_000_000);
    await sweepRuns(runs);
    expect([existsSync(join(runs, 'old')), existsSync(join(runs, 'young'))]).toEqual([false, true]);
  });
});
