import type { ResponseStatus, Swept } from '@lanternroom/sdk/wake';
import { fromOutcome, tellInLine } from '../answers.ts';
import { openWake } from '../settings.ts';
import { EXIT, type World } from '../world.ts';

export interface ResponsesFlags {
  readonly since?: string;
  readonly status?: readonly ResponseStatus[];
  readonly limit?: number;
  readonly follow?: boolean;
  readonly all?: boolean;
  readonly json?: boolean;
}

const LONGEST_PAGE = 200;
const FOLLOW_POLL_MS = 5_000;

export async function responses(flags: ResponsesFlags, world: World): Promise<number> {
  const { wake, hasLog } = openWake({ ...world, err: () => undefined });
  const takesAll = flags.all === true || !hasLog;
  let leftOut = 0;
  const answers = wake.sweep({
    since: flags.since,
    statuses: flags.status,
    limit: flags.limit === undefined ? undefined : Math.min(flags.limit, LONGEST_PAGE),
    follow: flags.follow,
    pollMs: FOLLOW_POLL_MS,
    onForeign: () => {
      if (!takesAll) leftOut += 1;
      return takesAll ? 'adopt' : 'refuse';
    },
  });
  let printed = 0;
  for await (const answer of answers) {
    world.out(flags.json ? lineOf(answer) : tellInLine(answer));
    printed += 1;
    if (printed === flags.limit) break;
  }
  if (leftOut > 0)
    world.err(`Left out answers to deliveries that were not sent from here: ${leftOut}. --all shows them.\n`);
  return EXIT.done;
}

function lineOf(answer: Swept): string {
  return `${JSON.stringify({ ...fromOutcome(answer), resume_from: answer.resumeFrom })}\n`;
}
