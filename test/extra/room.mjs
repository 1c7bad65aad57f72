// A real Lanternroom and the person at its desk, for Node's own test runner: these frameworks are installed apart.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const KEY = 'wk_test_0123456789abcdefghijklmnopqrstuv';
const OWNER = { email: 'owner@example.com', password: 'correct horse battery' };
export const A = { order: 'A-17', amount: 40 };
export const B = { order: 'B-2', amount: 900 };
export const approve = () => ({ status: 'approved' });
export const reject = () => ({ status: 'rejected', feedback: 'Not this customer.' });
export const edit = () => ({
  status: 'redirected',
  edited_content: { tool: 'refund', arguments: { order: 'A-17', amount: 20 } },
});

/** A package from the folder of the extra frameworks. */
export function framework(name) {
  const from = createRequire(join(process.env.EXTRA_FRAMEWORKS ?? ROOT, 'package.json'));
  return import(pathToFileURL(from.resolve(name)).href);
}

export async function openRoom(t) {
  const folder = mkdtempSync(join(tmpdir(), 'lanternroom-extra-'));
  const env = {
    PATH: process.env.PATH,
    LANTERNROOM_INIT_HANDLE: 'home',
    LANTERNROOM_INIT_EMAIL: OWNER.email,
    LANTERNROOM_INIT_PASSWORD: OWNER.password,
    LANTERNROOM_INIT_AGENT: 'agent-01',
    LANTERNROOM_INIT_AGENT_KEY: KEY,
    LANTERNROOM_RATE_TEST: '1000000/100000',
    LANTERNROOM_UNDO_SECONDS: '0',
  };
  const program = join(ROOT, 'packages/server/bin/lanternroom.js');
  const args = [program, 'serve', '--port', '0', '--data', join(folder, 'data')];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  t.after(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  const url = await until(() => /^Lanternroom is at (\S+)$/m.exec(said)?.[1]);
  const { createWake, fileLog } = await import('@lanternroom/sdk/wake');
  const log = fileLog(join(folder, 'log.jsonl'));
  const wake = createWake({ url, apiKey: KEY, agentId: 'agent-01', log });
  return { wake, person: await sitDown(url) };
}

/** Waits for that many open questions, then answers each by its details. */
async function sitDown(url) {
  const json = { 'content-type': 'application/json' };
  const login = () =>
    fetch(`${url}/desk/session`, { method: 'POST', headers: json, body: JSON.stringify(OWNER) });
  const reply = await until(async () => {
    const tried = await login().catch(() => null);
    return tried?.status === 200 && tried;
  });
  const headers = { ...json, cookie: reply.headers.get('set-cookie').split(';')[0] };
  const get = async (path) => (await fetch(url + path, { headers })).json();
  return async (count, decides) => {
    const rows = await until(async () => {
      const { deliveries } = await get('/desk/deliveries?limit=100&from=2000-01-01T00:00:00Z');
      const open = deliveries.filter(({ status, type }) => status === 'pending' && type === 'question');
      return open.length >= count && open;
    });
    for (const { delivery_id } of rows) {
      const { content_sha256, details } = await get(`/desk/deliveries/${delivery_id}`);
      const body = JSON.stringify({ ...decides(details.arguments), content_sha256 });
      await fetch(`${url}/desk/deliveries/${delivery_id}/decision`, { method: 'POST', headers, body });
    }
  };
}

async function until(look) {
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  throw new Error('not in time');
}
