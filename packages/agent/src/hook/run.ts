import { join } from 'node:path';
import { faultOf } from '@lanternroom/sdk/wake';
import { homeOf } from '../home.ts';
import { openWake } from '../settings.ts';
import type { World } from '../world.ts';
import { askAboutCall } from './ask.ts';
import { readCall } from './call.ts';
import { openClaims } from './claims.ts';
import { ownDeadlineMs, readFlags } from './flags.ts';
import { HOSTS } from './hosts.ts';
import { mustAsk } from './tools.ts';

/** What the hook tells its host: the tool may run, with this on standard output, or it may not. */
export type Said =
  | { readonly mayRun: true; readonly out: string }
  | { readonly mayRun: false; readonly reason: string };

// Reserved for writing the denial and exiting, out of the time that the host gives us.
const LAST_MOMENT_MS = 750;

export async function runHook(argv: readonly string[], world: World): Promise<Said> {
  const flags = readFlags(argv);
  if ('wrong' in flags) return denied(flags.wrong);
  const host = HOSTS[flags.host];
  const call = readCall(await world.stdin(), host);
  if ('odd' in call) return denied(call.odd);
  if (!mustAsk(call.tool, flags.filter, host.passes)) return { mayRun: true, out: '' };
  const { wake } = openWake(world, { provider: host.provider });
  const leftMs = () => ownDeadlineMs(flags.hostTimeoutSeconds) - LAST_MOMENT_MS - process.uptime() * 1_000;
  const verdict = await askAboutCall({
    host: flags.host,
    call,
    wake,
    claims: openClaims(join(homeOf(world.env), '.lantern', 'hook')),
    leftMs,
    signal: AbortSignal.timeout(Math.round(Math.max(leftMs(), 0) + LAST_MOMENT_MS / 2)),
  }).catch((error: unknown) => {
    if (faultOf(error) !== 'aborted') throw error;
    return { kind: 'deny', reason: 'The server did not take the question in time.' } as const;
  });
  return verdict.kind === 'allow' ? { mayRun: true, out: host.letThrough(verdict) } : denied(verdict.reason);
}

function denied(reason: string): Said {
  return { mayRun: false, reason };
}
