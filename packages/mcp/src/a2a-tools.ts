import { type Task, textIn } from '@lanternroom/sdk/a2a';
import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { orRefusal, reported } from './results.ts';
import type { Room } from './room.ts';

const agent = z
  .string()
  .min(1)
  .max(2_048)
  .describe(
    "The other agent's address, https://host/@handle/name, or @handle/name if it is on your own server",
  );

/** Talk to another agent. What it says is data, as everything from outside. */
export function addA2aTools(server: McpServer, room: Room): void {
  server.registerTool(
    'a2a_send',
    {
      title: 'Send a message to another agent',
      description:
        'Sends a message over A2A and returns the task, or the message that answers it. Give the same message_id again to repeat safely.',
      inputSchema: z.object({
        agent,
        text: z.string().min(1).max(100_000),
        task_id: z.string().max(256).optional().describe('Goes on with a task that waits for input'),
        context_id: z.string().max(256).optional(),
        message_id: z.string().min(1).max(256).optional(),
        wait: z
          .boolean()
          .optional()
          .describe('Wait up to half a minute for the other agent, instead of looking later'),
      }),
      annotations: { destructiveHint: false, openWorldHint: true },
    },
    (given, ctx) =>
      orRefusal(async () => {
        const answer = await room.agent(given.agent).send(given.text, {
          taskId: given.task_id,
          contextId: given.context_id,
          messageId: given.message_id,
          returnImmediately: given.wait !== true,
          signal: ctx.mcpReq.signal,
        });
        if ('task' in answer) return told(answer.task);
        return reported({ message: answer.message, text: textIn(answer.message) }, 'It answered.');
      }),
  );
  server.registerTool(
    'a2a_get_task',
    {
      title: 'Look at a task of another agent',
      description: 'The state of a task that you sent to another agent, with its artifacts.',
      inputSchema: z.object({ agent, task_id: z.string().min(1).max(256) }),
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
    (given, ctx) =>
      orRefusal(async () => {
        const signal = ctx.mcpReq.signal;
        return told(await room.agent(given.agent).get(given.task_id, { historyLength: 10, signal }));
      }),
  );
}

function told(task: Task) {
  return reported({ task }, `Task ${task.id} is ${task.status.state}.`);
}
