import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { Stop } from './command.mjs';
import { ROOT } from './repo.mjs';

const FORWARDED = ['SIGINT', 'SIGTERM'];

/** How long output may still trickle in after a program has ended. */
const DRAIN_MS = 2000;

/**
 * Runs a program to its end and returns `{ code, output }`. With `show` its output also appears as it comes. The
 * output always goes through us, never straight to the terminal: what a forgotten grandchild prints can then never
 * appear after our own last line.
 */
export async function run(file, args, { show = false, env = process.env } = {}) {
  const child = spawn(file, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const take = (stream, target) =>
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
      if (show) target.write(text);
    });
  take(child.stdout, process.stdout);
  take(child.stderr, process.stderr);
  const code = await untilEnd(child);
  return { code, output };
}

async function untilEnd(child) {
  let stoppedBy;
  const forward = (signal) => {
    stoppedBy = signal;
    child.kill(signal);
  };
  for (const signal of FORWARDED) process.on(signal, forward);
  try {
    const closed = once(child, 'close');
    closed.catch(() => {});
    const [code] = await once(child, 'exit');
    await Promise.race([closed, drainTime()]);
    child.stdout.destroy();
    child.stderr.destroy();
    if (stoppedBy) throw Stop.bySignal(stoppedBy);
    return code ?? 1;
  } finally {
    for (const signal of FORWARDED) process.off(signal, forward);
  }
}

const drainTime = () => new Promise((resolve) => setTimeout(resolve, DRAIN_MS).unref());

export const runNode = (args, options) => run(process.execPath, args, options);

/** npm as it was called, or the one on the path. Through node where possible: Windows cannot spawn `npm.cmd`. */
export function runNpm(args, options) {
  const outer = process.env.npm_execpath ?? '';
  const env = npmEnvironment(process.env);
  if (basename(outer) === 'npm-cli.js') return runNode([outer, ...args], { env, ...options });
  return run('npm', args, { env, ...options });
}

// Settings that say where packages come from and where they are kept; the others concern only the outer command.
const KEPT =
  /^npm_config_(registry|.*proxy|ca|cafile|cert|key|strict_ssl|cache|userconfig|globalconfig|.*offline|fetch_.*|maxsockets|\/\/.*|@.*)$/i;

/**
 * The outer npm hands its own options down as `npm_config_*`, so `npm start --workspace=x`, `--dry-run` or
 * `--omit=dev` would change what our install does.
 */
function npmEnvironment(env) {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !name.toLowerCase().startsWith('npm_') || KEPT.test(name)),
  );
}

/** The end of what npm said, without its warnings: the reason for a failure is there. */
export const tail = (output, lines = 15) =>
  output
    .trimEnd()
    .split('\n')
    .filter((line) => !line.startsWith('npm warn'))
    .slice(-lines)
    .join('\n');
