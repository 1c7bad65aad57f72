import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Server } from '../support/server.ts';

/** A place that can run out of room and get it back while the server runs. */
export type SmallDisk = {
  name: string;
  /** What the server is started under, so that its data folder is in this place. */
  under(folder: string): string[];
  fill(server: Server): void;
  free(server: Server): void;
};

const MEBI = 1024 * 1024;

/** A file system of its own in memory, seen by the server only; gone with it. Needs the right to mount. */
const ownFileSystem: SmallDisk = {
  name: 'a full disk',
  under: (folder) => [
    ...inNamespace(),
    'sh',
    '-c',
    `mount -t tmpfs -o size=${16 * MEBI},mode=700 tmpfs "$0" && exec "$@"`,
    folder,
  ],
  fill: (server) => {
    const file = openSync(filler(server), 'w');
    try {
      for (const size of [MEBI, 4096]) writeUntilFull(file, Buffer.alloc(size));
    } finally {
      closeSync(file);
    }
  },
  free: (server) => rmSync(filler(server)),
};

/** The largest size that a file of the server may have. Needs no rights; its refusal looks like a failing disk. */
const fileSizeLimit: SmallDisk = {
  name: 'a disk that takes no more',
  under: () => ['prlimit', `--fsize=${3 * MEBI}:unlimited`, '--'],
  fill: () => {},
  free: (server) => {
    execFileSync('prlimit', ['--pid', String(server.pid), '--fsize=unlimited:unlimited']);
  },
};

/** Those that this machine lets us have. The second works everywhere, so there is always something to run. */
export function smallDisks(): SmallDisk[] {
  return [...(mayMount() ? [ownFileSystem] : []), fileSizeLimit];
}

/** Places that are full from the start, if this machine lets us make them. */
export function fullDisks(): Pick<SmallDisk, 'name' | 'under'>[] {
  const mount = (size: number, folder: string) => [
    ...inNamespace(),
    'sh',
    '-c',
    `mount -t tmpfs -o size=${size},mode=700 tmpfs "$0" && exec "$@"`,
    folder,
  ];
  const mounted = [4096, 16_384, 65_536].map((size) => ({
    name: `a disk of ${size} bytes`,
    under: (folder: string) => mount(size, folder),
  }));
  const limited = { name: 'files that may hold nothing', under: () => ['prlimit', '--fsize=0', '--'] };
  return [...(mayMount() ? mounted : []), limited];
}

function inNamespace(): string[] {
  return ['unshare', ...(process.getuid?.() === 0 ? [] : ['--map-root-user']), '--mount', '--'];
}

function mayMount(): boolean {
  try {
    const [file = '', ...args] = [...inNamespace(), 'mount', '-t', 'tmpfs', 'tmpfs', '/tmp'];
    execFileSync(file, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The server's own view of its folder: the mount is not in ours. */
function filler(server: Server): string {
  return join(`/proc/${server.pid}/root`, server.folder, 'filler');
}

function writeUntilFull(file: number, block: Buffer): void {
  for (;;) {
    try {
      writeSync(file, block);
    } catch (reason) {
      if (reason instanceof Error && 'code' in reason && reason.code === 'ENOSPC') return;
      throw reason;
    }
  }
}
