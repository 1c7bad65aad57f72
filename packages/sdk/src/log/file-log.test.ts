import { appendFile, chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { homeFolder } from '../files.ts';
import { answered, DRAFT, ID, OTHER_ID, received, startWorld, TEST_KEY } from '../testing/room.ts';
import { createWake } from '../wake/client.ts';
import { fileLog } from './file-log.ts';

async function freshPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lantern-log-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'deep', 'log.jsonl');
}

const script = (seen: { method: string; url: string }) =>
  seen.method === 'POST'
    ? received()
    : answered('approved', { delivery_id: seen.url.split('/').at(-1) ?? '' });

describe('the local log', () => {
  it('[W23] lies with the user also when HOME is empty, and not where one stands', () => {
    vi.stubEnv('HOME', '');
    expect(homeFolder()).toBe(userInfo().homedir);
  });

  it('[W23] where no folder can be made it says so, and does not try for ever', async () => {
    const { wake } = await startWorld(script, { log: fileLog('/proc/nobody/.lantern/log.jsonl') });
    await expect(wake.deliver(DRAFT)).rejects.toMatchObject({ fault: 'log_failed' });
  });

  it('[W23] holds every delivery and answer as JSON lines that only the owner can read', async () => {
    const path = await freshPath();
    const { wake, url } = await startWorld(script, { log: fileLog(path) });
    await wake.deliver({ ...DRAFT, details: 'The plan' });
    await wake.check(ID);
    const lines = (await readFile(path, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => line.event)).toEqual(['deliver', 'delivered', 'answer']);
    expect(lines[0]).toMatchObject({
      server: url,
      delivery: { headline: DRAFT.headline, details: 'The plan' },
    });
    expect(lines[1]).toMatchObject({ delivery_id: ID, agent_id: 'research-agent-01' });
    expect(lines[2]).toMatchObject({ delivery_id: ID, response: { status: 'approved' } });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('[W23] never holds the key, even when the agent puts it into the details', async () => {
    const path = await freshPath();
    const { wake } = await startWorld(script, { log: fileLog(path) });
    await wake.deliver({ ...DRAFT, details: { env: `WAKE_API_KEY=${TEST_KEY}` } });
    expect(await readFile(path, 'utf8')).not.toContain(TEST_KEY);
  });

  it('[W23] restores the known ids after a restart, for the same server and agent only', async () => {
    const path = await freshPath();
    const { wake, url } = await startWorld(script, { log: fileLog(path) });
    await wake.deliver(DRAFT);
    const restarted = createWake({ url, apiKey: TEST_KEY, log: fileLog(path) });
    await expect(restarted.check(ID)).resolves.toMatchObject({ status: 'approved' });
    const elsewhere = createWake({ url: 'https://other.example', apiKey: TEST_KEY, log: fileLog(path) });
    await expect(elsewhere.check(ID)).rejects.toMatchObject({ fault: 'foreign_delivery' });
    const other = createWake({ url, apiKey: TEST_KEY, agentId: 'other-agent', log: fileLog(path) });
    await expect(other.check(ID)).rejects.toMatchObject({ fault: 'foreign_delivery' });
  });

  it('[W23] sees what another process delivered meanwhile', async () => {
    const path = await freshPath();
    const { wake, url } = await startWorld(script, { log: fileLog(path) });
    const watcher = createWake({ url, apiKey: TEST_KEY, log: fileLog(path) });
    await expect(watcher.check(ID)).rejects.toMatchObject({ fault: 'foreign_delivery' });
    await wake.deliver(DRAFT);
    await expect(watcher.check(ID)).resolves.toMatchObject({ status: 'approved' });
  });

  it('[W23] what another process delivered is found, however many look at once', async () => {
    const path = await freshPath();
    const { wake, url } = await startWorld(script, { log: fileLog(path) });
    await wake.adopt(OTHER_ID);
    const watcher = createWake({ url, apiKey: TEST_KEY, log: fileLog(path) });
    const looks = Array.from({ length: 8 }, (_, n) => watcher.check(`unknown-${n}`));
    for (const look of await Promise.allSettled(looks)) expect(look.status).toBe('rejected');
    await wake.deliver(DRAFT);
    // So many that the file grows past the place at which a reader wrongly believes itself to be.
    for (let n = 0; n < 40; n += 1) await wake.adopt(`550e8400-e29b-41d4-a716-44665544${1000 + n}`);
    await expect(watcher.check(ID)).resolves.toMatchObject({ status: 'approved' });
  });

  it('[W23] clients that share a log each find what is theirs', async () => {
    const path = await freshPath();
    const { wake, url } = await startWorld(script, { log: fileLog(path) });
    await wake.deliver(DRAFT);
    const shared = fileLog(path);
    const others = createWake({ url, apiKey: TEST_KEY, agentId: 'other-agent', log: shared });
    await expect(others.check(ID)).rejects.toMatchObject({ fault: 'foreign_delivery' });
    const ours = createWake({ url, apiKey: TEST_KEY, agentId: 'research-agent-01', log: shared });
    await expect(ours.check(ID)).resolves.toMatchObject({ status: 'approved' });
  });

  it('[W23] long lines of several writers do not run into each other', async () => {
    const path = await freshPath();
    const line = (n: number) => JSON.stringify({ at: String(n), details: String(n % 10).repeat(2_000_000) });
    const logs = Array.from({ length: 4 }, () => fileLog(path));
    await logs[0]?.append(line(0));
    await Promise.all(logs.flatMap((log, n) => [log.append(line(10 + n)), log.append(line(20 + n))]));
    const lines = await fileLog(path).newLines();
    expect(lines).toHaveLength(9);
    for (const one of lines) expect(() => JSON.parse(one)).not.toThrow();
  });

  it('[W23] half a line costs no line that another process writes after it', async () => {
    const path = await freshPath();
    const { wake, url } = await startWorld(script, { log: fileLog(path) });
    await wake.adopt(OTHER_ID);
    // Another process, which a full disk has stopped in the middle.
    await appendFile(path, '{"at":"2026-03-08T12:00:00.000Z","event":"deliver","delivery":{"details":"half');
    await wake.adopt(ID);
    const restarted = createWake({ url, apiKey: TEST_KEY, log: fileLog(path) });
    await expect(restarted.waitFor(ID)).resolves.toMatchObject({ status: 'approved' });
  });

  it('[W23] half a line, left by a crash, costs no other line', async () => {
    const path = await freshPath();
    const { wake, url } = await startWorld(script, { log: fileLog(path) });
    await wake.deliver(DRAFT);
    await appendFile(path, '{"at":"2026-03-08T12:0');
    const restarted = createWake({ url, apiKey: TEST_KEY, log: fileLog(path) });
    await restarted.adopt(OTHER_ID);
    const third = createWake({ url, apiKey: TEST_KEY, log: fileLog(path) });
    await expect(third.check(ID)).resolves.toMatchObject({ status: 'approved' });
    await expect(third.check(OTHER_ID)).resolves.toMatchObject({ status: 'approved' });
  });

  it('[W23] a file that others could read is closed to them', async () => {
    const path = join(await freshPath(), '..', '..', 'open.jsonl');
    await writeFile(path, '');
    await chmod(path, 0o644);
    await fileLog(path).append('{}');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('[W23] a log that cannot be written stops a delivery before it leaves', async () => {
    const path = join(await freshPath(), '..', '..');
    const world = await startWorld(script, { log: fileLog(path) });
    await expect(world.wake.deliver(DRAFT)).rejects.toMatchObject({ fault: 'log_failed' });
    expect(world.seen).toEqual([]);
  });
});
