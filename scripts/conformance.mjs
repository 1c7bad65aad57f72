import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startFront } from '../test/conformance/front.mjs';
import { command, passedOn } from './command.mjs';
import { inRepo } from './repo.mjs';
import { ensureBuilt, ensureInstalled } from './setup.mjs';

// A server, the agent that the official A2A kits expect, and a front for them. Ctrl-C ends all three.
const KEY = `wk_test_${'Kits00'.repeat(6)}`;
const AGENT = 'tck';

await command(async () => {
  await ensureInstalled();
  await ensureBuilt();
  const front = Number(passedOn()[0] ?? 9999);
  const folder = mkdtempSync(join(tmpdir(), 'lanternroom-kits-'));
  const server = serve(folder, front);
  const target = `http://127.0.0.1:${front + 1}`;
  await untilReady(target, server);
  const agent = run('test/conformance/kit-agent.mjs', { LANTERN_URL: target, WAKE_API_KEY: KEY });
  // Its first output says that it is connected.
  await Promise.race([once(agent.stdout, 'data'), once(agent, 'exit')]);
  const door = await startFront({ port: front, target, key: KEY });
  console.log(
    `Point the kit for 1.0 at http://127.0.0.1:${front}/v1 and the one for 0.3 at http://127.0.0.1:${front} (docs/conformance.md). Ctrl-C ends.`,
  );
  await Promise.race([
    once(process, 'SIGINT'),
    once(process, 'SIGTERM'),
    once(server, 'exit'),
    once(agent, 'exit'),
  ]);
  door.closeAllConnections();
  door.close();
  for (const child of [agent, server]) await ended(child);
  rmSync(folder, { recursive: true, force: true });
});

function serve(folder, front) {
  const origin = `http://127.0.0.1:${front}`;
  return run('packages/server/bin/lanternroom.js', {
    LANTERNROOM_DATA: folder,
    LANTERNROOM_PORT: String(front + 1),
    // The card must name the front, or the kits would bypass it.
    LANTERNROOM_URL: origin,
    LANTERNROOM_INIT_HANDLE: 'home',
    LANTERNROOM_INIT_AGENT: AGENT,
    LANTERNROOM_INIT_AGENT_KEY: KEY,
    LANTERNROOM_INIT_CALLBACKS: origin,
    LANTERNROOM_RATE_TEST: '1000000/100000',
    LANTERNROOM_LOG: 'warn',
  });
}

function run(path, env) {
  const args = path.endsWith('lanternroom.js') ? ['serve'] : [];
  const { PATH, HOME, TMPDIR, TCK_STREAMING_TIMEOUT } = process.env;
  const inherited = { PATH, HOME, TMPDIR, ...(TCK_STREAMING_TIMEOUT ? { TCK_STREAMING_TIMEOUT } : {}) };
  return spawn(process.execPath, [inRepo(path), ...args], {
    stdio: ['ignore', path.startsWith('test/') ? 'pipe' : 'ignore', 'inherit'],
    env: { ...inherited, ...env },
  });
}

async function untilReady(url, child) {
  while (child.exitCode === null) {
    const reply = await fetch(`${url}/readyz`).catch(() => null);
    if (reply?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('The server did not start; see above.');
}

async function ended(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
