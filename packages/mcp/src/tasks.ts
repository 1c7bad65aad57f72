import { faultOf } from '@lanternroom/sdk/wake';
import {
  type CallToolResult,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { lookAt, vouch } from './look.ts';
import { sentenceOf } from './results.ts';
import type { Room } from './room.ts';

/**
 * The tasks extension: where the client declares it, a question to wait for is a task, and its id is the delivery's.
 * Nothing is stored here, so any replica and any later process can answer for it. The library has no runtime for
 * tasks, but lets us serve their methods.
 */
export const TASKS = 'io.modelcontextprotocol/tasks';

const POLL_MS = 5_000;
const params = z.looseObject({ taskId: z.string().min(1).max(64) });

type Task = Record<string, unknown>;

export function hasTasks(server: McpServer): boolean {
  return server.server.getClientCapabilities()?.extensions?.[TASKS] !== undefined;
}

/** The promise of a result, in place of the result. */
export function taskFor(room: Room, deliveryId: string, createdAt: string): CallToolResult {
  const task = { resultType: 'task', ...working(room, deliveryId, createdAt) };
  return task as unknown as CallToolResult;
}

export function addTasks(server: McpServer, room: Room): void {
  const schemas = { params };
  server.server.setRequestHandler('tasks/get', schemas, ({ taskId }, ctx) =>
    orInvalid(() => readTask(room, taskId, ctx)),
  );
  // There is nothing to update: the person answers on the desk. An unknown id is still refused.
  server.server.setRequestHandler('tasks/update', schemas, ({ taskId }, ctx) =>
    orInvalid(async () => {
      await readTask(room, taskId, ctx);
      return {};
    }),
  );
  server.server.setRequestHandler('tasks/cancel', schemas, ({ taskId }, ctx) =>
    orInvalid(async () => {
      await vouch(room, taskId);
      await room.wake.withdraw(taskId, 'The client cancelled it.', { signal: ctx.mcpReq.signal });
      return {};
    }),
  );
}

/** A refusal by the server, unlike a failure of ours, is about what was asked for. */
async function orInvalid(work: () => Promise<Task>): Promise<Task> {
  try {
    return await work();
  } catch (error) {
    if (faultOf(error) === null || !(error instanceof Error)) throw error;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, sentenceOf(error));
  }
}

async function readTask(room: Room, taskId: string, ctx: ServerContext): Promise<Task> {
  const result = await lookAt(room, taskId, 0, ctx);
  const facts = Object(result.structuredContent) as Record<string, unknown>;
  const answeredAt = typeof facts.responded_at === 'string' ? facts.responded_at : null;
  if (facts.status === 'pending') return working(room, taskId, new Date().toISOString());
  const at = answeredAt ?? new Date().toISOString();
  return { taskId, status: 'completed', createdAt: at, lastUpdatedAt: at, ttlMs: null, result };
}

function working(room: Room, taskId: string, at: string): Task {
  const statusMessage = `Nobody has answered yet. The person answers at ${room.deskUrl(taskId)}`;
  const times = { createdAt: at, lastUpdatedAt: at };
  return { taskId, status: 'working', statusMessage, ...times, ttlMs: null, pollIntervalMs: POLL_MS };
}
