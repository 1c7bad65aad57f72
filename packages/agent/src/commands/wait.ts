import { exitOf, fromOutcome, type Outcome, tell } from '../answers.ts';
import { openWake } from '../settings.ts';
import { UsageError, type World } from '../world.ts';

export interface WaitFlags {
  readonly timeout?: number;
  readonly assume?: string;
  readonly json?: boolean;
}

export async function wait(deliveryId: string, flags: WaitFlags, world: World): Promise<number> {
  const { wake, hasLog } = openWake(world);
  if (flags.assume !== undefined && !hasLog) {
    throw new UsageError(
      'An assumption has to be written to the log: leave LANTERN_LOG at a file, not at "off".',
    );
  }
  // Naming the id on the command line is what `adopt` asks for: the caller vouches for it.
  await wake.adopt(deliveryId);
  const timeoutMs = flags.timeout === undefined ? undefined : flags.timeout * 1_000;
  const answer =
    flags.assume === undefined
      ? await wake.waitFor(deliveryId, { timeoutMs })
      : await wake.waitFor(deliveryId, { timeoutMs, onTimeout: { assumption: flags.assume } });
  return report(answer, { isJson: flags.json === true, world });
}

export function report(answer: Outcome, to: { isJson: boolean; world: World }): number {
  to.world.out(to.isJson ? `${JSON.stringify(fromOutcome(answer))}\n` : tell(answer));
  return exitOf(answer);
}
