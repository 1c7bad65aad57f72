import { HOSTS, type HostName, isHost } from './hosts.ts';
import type { ToolFilter } from './tools.ts';

export interface HookFlags {
  readonly host: HostName;
  /** When the host stops waiting for us, counted from the start of this process. */
  readonly hostTimeoutSeconds: number;
  readonly filter: ToolFilter;
}

// Below this a person has no time to look, and starting up would already be too late.
const SHORTEST_TIMEOUT = 10;
const LONGEST_TIMEOUT = 604_800;

/** Parsed by hand: a parser that ends the process on wrong usage would do so with a code that lets the tool run. */
export function readFlags(argv: readonly string[]): HookFlags | { readonly wrong: string } {
  const [host, ...rest] = argv;
  if (!isHost(host))
    return wrong(`Say for whom the hook asks: lantern hook ${Object.keys(HOSTS).join('|')}.`);
  let hostTimeoutSeconds = HOSTS[host].timeoutSeconds;
  let ask: readonly string[] | null = null;
  let pass: readonly string[] = [];
  for (let at = 0; at < rest.length; at += 2) {
    const [flag, value] = [rest[at], rest[at + 1]];
    if (value === undefined) return wrong(`${flag} needs a value.`);
    if (flag === '--host-timeout') hostTimeoutSeconds = Number(value);
    else if (flag === '--ask') ask = listOf(value);
    else if (flag === '--pass') pass = listOf(value);
    else return wrong(`The hook does not know ${flag}.`);
  }
  if (!isTimeout(hostTimeoutSeconds)) {
    return wrong(`--host-timeout is a whole number of seconds, ${SHORTEST_TIMEOUT} to ${LONGEST_TIMEOUT}.`);
  }
  if (ask !== null && pass.length > 0) return wrong('Give --ask or --pass, not both.');
  return { host, hostTimeoutSeconds, filter: { ask, pass } };
}

/** Our deadline comes before the host's: a host that gives up on its hook runs the tool. */
export function ownDeadlineMs(hostTimeoutSeconds: number): number {
  const margin = Math.min(Math.max(hostTimeoutSeconds * 0.05, 2), 30);
  return (hostTimeoutSeconds - margin) * 1_000;
}

export function isTimeout(seconds: number): boolean {
  return Number.isInteger(seconds) && seconds >= SHORTEST_TIMEOUT && seconds <= LONGEST_TIMEOUT;
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

function wrong(sentence: string): { wrong: string } {
  return { wrong: `${sentence} Fix the hook's configuration ("lantern install --help").` };
}
