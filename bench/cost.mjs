import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { platform } from 'node:os';

const TICKS_PER_SECOND = 100;

/** Processor time of a process so far; 0 where the system does not tell. */
export function cpuMicros(pid) {
  if (platform() !== 'linux') return 0;
  // The name of the program is in brackets and may hold spaces: count from the last one.
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1e6) / TICKS_PER_SECOND;
}

/** Resident memory in bytes. */
export function memoryOf(pid) {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) * 1024;
}
