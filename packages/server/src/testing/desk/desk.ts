import { onTestFinished } from 'vitest';
import { ManualClock, World, type WorldOptions } from '../world.ts';

/** A world with a stopped clock; it ends with its test. */
export async function openDesk(options: WorldOptions = {}): Promise<{ world: World; clock: ManualClock }> {
  const clock = options.clock ?? new ManualClock();
  const world = await World.open({ ...options, clock });
  onTestFinished(() => world.stop());
  return { world, clock };
}

export const AT_ONCE = { LANTERNROOM_UNDO_SECONDS: '0' };

/** The body of a reply that must be fine. */
export async function body<T = Record<string, unknown>>(reply: Promise<Response>): Promise<T> {
  const got = await reply;
  const text = await got.text();
  if (!got.ok) throw new Error(`${got.status}: ${text}`);
  return JSON.parse(text) as T;
}

/** Status, code and field of a reply that must be refused. */
export async function refused(
  reply: Promise<Response>,
): Promise<{ status: number; code: string; field?: string }> {
  const got = await reply;
  const { error } = (await got.json()) as { error: { code: string; field?: string } };
  return {
    status: got.status,
    code: error.code,
    ...(error.field === undefined ? {} : { field: error.field }),
  };
}

export async function status(reply: Promise<Response>): Promise<number> {
  return (await reply).status;
}
