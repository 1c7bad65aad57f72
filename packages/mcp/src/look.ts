import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server';
import { fromAnswer, meaningOf } from './answers.ts';
import { done } from './results.ts';
import type { Room } from './room.ts';

/** What the person has said so far about a delivery, waiting for it a little. */
export async function lookAt(
  room: Room,
  id: string,
  waitSeconds: number,
  ctx: ServerContext,
): Promise<CallToolResult> {
  await vouch(room, id);
  const { signal } = ctx.mcpReq;
  const answer =
    waitSeconds > 0
      ? await room.wake.waitFor(id, { timeoutMs: waitSeconds * 1_000, signal })
      : await room.wake.check(id, { signal });
  return done({ ...fromAnswer(answer), desk_url: room.deskUrl(id) }, meaningOf(answer));
}

/** Where the server itself knows whose ids are whose, an id needs no line in a local log. */
export async function vouch(room: Room, id: string): Promise<void> {
  if (room.vouchesForIds) await room.wake.adopt(id);
}
