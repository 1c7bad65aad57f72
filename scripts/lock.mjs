import { randomUUID } from 'node:crypto';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { inRepo } from './repo.mjs';

const LOCK = inRepo('.cache', 'setup.lock');
const HEARTBEAT_MS = 2000;
const SILENT_MS = 30_000;
const LOOK_MS = 150;

/**
 * Runs `body` while no other process of this clone is in here. The lock is a folder that is prepared elsewhere and
 * renamed into place: renaming onto a folder that is not empty fails, so exactly one process wins.
 */
export async function withLock(body) {
  const token = await take();
  const heartbeat = setInterval(() => touch(), HEARTBEAT_MS);
  try {
    return await body();
  } finally {
    clearInterval(heartbeat);
    release(token);
  }
}

async function take() {
  const token = randomUUID();
  const prepared = `${LOCK}.new-${token}`;
  mkdirSync(prepared, { recursive: true });
  writeFileSync(join(prepared, 'owner'), JSON.stringify({ pid: process.pid, host: hostname(), token }));
  const watch = watchHolder();
  while (!moved(prepared, LOCK)) {
    const dead = watch();
    if (dead) bury(dead);
    else await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return token;
}

/** Returns a function that checks the holder: its token once it is known to be dead, nothing while it may be alive. */
function watchHolder() {
  let said = false;
  let last = { beat: Number.NaN, at: 0 };
  return () => {
    const holder = readHolder();
    if (!holder) return undefined;
    if (holder.host === hostname() && !isAlive(holder.pid)) return holder.token;
    // Measured with our own clock from our own first look: neither file times nor a clock that jumps are trusted.
    if (holder.beat !== last.beat) last = { beat: holder.beat, at: performance.now() };
    if (performance.now() - last.at > SILENT_MS) return holder.token;
    if (!said) console.error('Another run is setting this clone up; waiting for it…');
    said = true;
    return undefined;
  };
}

function readHolder() {
  try {
    const path = join(LOCK, 'owner');
    return { ...JSON.parse(readFileSync(path, 'utf8')), beat: statSync(path).mtimeMs };
  } catch {
    return undefined; // Released between two looks.
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/**
 * Moves a dead holder's lock aside, under the dead one's own name. If two processes do this at once, the slower one
 * finds that name taken and fails, so it can never move the next holder's lock.
 */
const bury = (token) => moved(LOCK, `${LOCK}.gone-${token}`);

function release(token) {
  bury(token);
  const folder = dirname(LOCK);
  for (const name of readdirSync(folder)) {
    if (name.startsWith('setup.lock.gone-')) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function moved(from, to) {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (['EEXIST', 'ENOTEMPTY', 'EPERM', 'ENOENT'].includes(error.code)) return false;
    throw error;
  }
}

function touch() {
  const now = new Date();
  try {
    utimesSync(join(LOCK, 'owner'), now, now);
  } catch {
    // Taken over while this machine slept. The work goes on; its stamp tells the next run the truth.
  }
}
