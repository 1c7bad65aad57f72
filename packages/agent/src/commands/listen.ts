import {
  type AkepEvent,
  faultOf,
  type HandlerSays,
  type Inbox,
  type Resume,
  systemClock,
} from '@lanternroom/sdk/akep';
import { shown } from '../answers.ts';
import { type Ended, runCommand } from '../command.ts';
import { openInbox } from '../inbox.ts';
import { readAccess } from '../settings.ts';
import { EXIT, type World } from '../world.ts';

export interface ListenFlags {
  readonly exec?: string;
  readonly once?: boolean;
  readonly types?: readonly string[];
  readonly cursorFile?: string;
  readonly retries?: number;
  readonly json?: boolean;
}

/** The exit code by which a command says that it will never take this event. */
const REJECTED = 10;
const DEFAULT_RETRIES = 5;
const LONGEST_PAUSE_MS = 60_000;

export async function listen(flags: ListenFlags, world: World): Promise<number> {
  const { exec } = flags;
  const inbox = openInbox(world, { ...flags, looking: exec === undefined });
  const signal = world.stopSignal?.();
  // It may be quiet for hours: nobody should think that it hangs.
  if (!flags.once) world.err(`Listening to the inbox at ${readAccess(world).url}. Ctrl-C ends.\n`);
  const options = { once: flags.once, types: flags.types, signal };
  if (exec === undefined) {
    await inbox.run((event) => printEvent(event, flags, world), {
      ...options,
      onResume: (resume) => printResume(resume, flags, world),
    });
    return EXIT.done;
  }
  const hand = createHand({ exec, retries: flags.retries ?? DEFAULT_RETRIES, world, signal });
  await inbox.run((event) => hand(event.event_id, { type: 'event', event }), {
    ...options,
    onResume: async (resume) => {
      const event = await eventOf(inbox, resume);
      await hand(resume.resume_id, { type: 'resume', resume, event });
    },
  });
  return EXIT.done;
}

interface Hand {
  readonly exec: string;
  readonly retries: number;
  readonly world: World;
  readonly signal: AbortSignal | undefined;
}

/** Hands one item to the command, again and again while it fails and retries are left. */
function createHand({ exec, retries, world, signal }: Hand) {
  return async (id: string, item: Record<string, unknown>): Promise<HandlerSays> => {
    const input = `${JSON.stringify(item)}\n`;
    for (let tried = 0; ; tried += 1) {
      const ended = await runCommand(exec, input, world);
      if (ended.code === 0) return { status: 'applied' };
      if (ended.code === REJECTED) return { status: 'rejected', reason: ended.tail || 'exit code 10' };
      if (tried >= retries) throw new Error(gaveUp(id, ended, tried + 1));
      const pauseMs = Math.min(1_000 * 2 ** tried, LONGEST_PAUSE_MS);
      world.err(`${id}: the command ended with ${nameOf(ended)}; trying again in ${pauseMs / 1_000} s.\n`);
      await (world.clock ?? systemClock).sleep(pauseMs, signal);
    }
  };
}

function gaveUp(id: string, ended: Ended, times: number): string {
  return `The command ended with ${nameOf(ended)} on ${id}, ${times === 1 ? 'once' : `${times} times`}: fix it and listen again; ${id} then comes first (exit code 10 would reject it).`;
}

function nameOf({ code }: Ended): string {
  return code === null ? 'a signal' : `code ${code}`;
}

/** Fetched so that the command need not ask for it; null when it is no longer kept. */
async function eventOf(inbox: Inbox, resume: Resume): Promise<AkepEvent | null> {
  const view = await inbox.get(resume.event_id).catch((error: unknown) => {
    const fault = faultOf(error);
    if (fault !== 'not_found' && fault !== 'conflict') throw error;
    return null;
  });
  return view?.event ?? null;
}

/** Printing is not handling, so nothing is acknowledged. */
function printEvent(event: AkepEvent, { json }: ListenFlags, world: World): 'skip' {
  const { occurred_at, event_type, event_id, knowledge } = event;
  const line = [occurred_at, event_type, event_id, knowledge.summary].join('  ');
  world.out(json ? `${JSON.stringify({ type: 'event', event })}\n` : `${oneLine(line)}\n`);
  return 'skip';
}

function printResume(resume: Resume, { json }: ListenFlags, world: World): void {
  const line = ['resume', resume.run_state_ref ?? '-', resume.event_id, resume.reason].join('  ');
  world.out(json ? `${JSON.stringify({ type: 'resume', resume })}\n` : `${oneLine(line)}\n`);
}

function oneLine(text: string): string {
  return shown(text).replaceAll(/\s*\n\s*/g, ' ');
}
