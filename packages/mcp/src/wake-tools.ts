import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { fromAnswer } from './answers.ts';
import { exact } from './exact.ts';
import { lookAt, vouch } from './look.ts';
import { counted, done, orRefusal } from './results.ts';
import type { Room } from './room.ts';
import { hasTasks, taskFor } from './tasks.ts';
import { text } from './text.ts';

const LONGEST_WAIT = 45;
const reference = text(128);
const deliveryId = z.string().min(1).max(64).describe('As wake_deliver returned it');

const Delivery = z.object({
  type: z
    .enum(['update', 'question', 'output', 'alert'])
    .describe(
      'update: nothing is asked; question: a decision is needed; output: work to look at; alert: trouble',
    ),
  headline: text(120).describe('Lead with what has been accomplished'),
  summary: text(280).describe('One plain sentence'),
  details: exact(z.union([z.string(), z.record(z.string(), z.unknown())]))
    .optional()
    .describe('The full content. Never credentials.'),
  allow_secrets: z
    .array(z.object({ path: z.string().min(1).max(1_024), reason: text(500) }))
    .max(100)
    .optional()
    .describe(
      'Only for what was refused as a credential and is none: the path as the refusal named it, and why, for the person',
    ),
  timeout_seconds: z
    .number()
    .int()
    .min(60)
    .max(604_800)
    .optional()
    .describe('After this you go on by your own judgement, with the assumption written down'),
  task_id: reference.optional(),
  thread_id: reference.optional(),
  interrupt_id: reference.optional(),
  revises: z.string().optional().describe('The earlier delivery that this one replaces'),
  dedupe_key: reference.optional().describe('At most one pending delivery with this key'),
  idempotency_key: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe('The same key and content are delivered once'),
  ask_now: z
    .boolean()
    .optional()
    .describe('Show the person the address of the question now, where this client can, and wait a little'),
});

/** Deliver, check, sweep, withdraw. No tool decides. */
export function addWakeTools(server: McpServer, room: Room): void {
  addDeliver(server, room);
  addReading(server, room);
  server.registerTool(
    'wake_withdraw',
    {
      title: 'Take a delivery back',
      description: 'Takes back a delivery that nobody has decided yet, with the reason for the person.',
      inputSchema: z.object({ delivery_id: deliveryId, reason: text(500) }),
      annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
    },
    ({ delivery_id, reason }, ctx) =>
      orRefusal(async () => {
        await vouch(room, delivery_id);
        const answer = await room.wake.withdraw(delivery_id, reason, { signal: ctx.mcpReq.signal });
        return done(fromAnswer(answer), 'Withdrawn. Do not do what was proposed.');
      }),
  );
}

function addDeliver(server: McpServer, room: Room): void {
  server.registerTool(
    'wake_deliver',
    {
      title: 'Put something before the person',
      description:
        'Delivers an update, a question, an output or an alert to the person you work for. Returns at once with the delivery id; the answer comes later, through wake_check_response or wake_responses. Before anything that cannot be undone, deliver a question and act only on "approved".',
      inputSchema: Delivery,
      annotations: { destructiveHint: false, openWorldHint: false },
    },
    async (draft, ctx) => {
      const asked = ctx.mcpReq.requestState<string>();
      if (typeof asked === 'string') return afterAsking(room, asked, ctx);
      let question: InputRequiredResult | null = null;
      const result = await orRefusal(async () => {
        const {
          deliveryId: id,
          createdAt,
          deduplicated,
        } = await room.wake.deliver(
          {
            type: draft.type,
            headline: draft.headline,
            summary: draft.summary,
            details: draft.details,
            allowSecrets: draft.allow_secrets,
            timeoutSeconds: draft.timeout_seconds,
            taskId: draft.task_id,
            threadId: draft.thread_id,
            interruptId: draft.interrupt_id,
            revises: draft.revises,
            dedupeKey: draft.dedupe_key,
          },
          // A client gives up on a tool after about a minute, and then nobody would be told why.
          {
            idempotencyKey: draft.idempotency_key,
            withinMs: LONGEST_WAIT * 1_000,
            signal: ctx.mcpReq.signal,
          },
        );
        if (draft.ask_now === true && canOpenUrls(server)) question = askNow(room, id, draft.headline);
        else if (draft.ask_now === true && hasTasks(server)) return taskFor(room, id, createdAt);
        const desk_url = room.deskUrl(id);
        const facts = { delivery_id: id, status: 'received', created_at: createdAt, deduplicated, desk_url };
        return done(facts, `Delivered as ${id}. Keep the id. The person answers at ${desk_url}`);
      });
      return question ?? result;
    },
  );
}

/** The delivery is already on the desk; this only shows the person the way to it. */
function askNow(room: Room, id: string, headline: string): InputRequiredResult {
  const message = `Your agent asks: ${headline}`;
  const desk = inputRequired.elicitUrl({ message, url: room.deskUrl(id) });
  return inputRequired({ inputRequests: { desk }, requestState: id });
}

/** Opening the page is not an answer: only the decision on the desk counts. */
async function afterAsking(room: Room, id: string, ctx: ServerContext): Promise<CallToolResult> {
  const response = inputResponse(ctx.mcpReq.inputResponses, 'desk');
  const opened = response.kind === 'elicit' && response.action === 'accept';
  return orRefusal(() => lookAt(room, id, opened ? LONGEST_WAIT : 0, ctx));
}

function canOpenUrls(server: McpServer): boolean {
  return server.server.getClientCapabilities()?.elicitation?.url !== undefined;
}

function addReading(server: McpServer, room: Room): void {
  server.registerTool(
    'wake_check_response',
    {
      title: 'Look for the answer to a delivery',
      description: 'The answer of the person to one delivery, or the news that there is none yet.',
      inputSchema: z.object({
        delivery_id: deliveryId,
        wait_seconds: z
          .number()
          .int()
          .min(0)
          .max(LONGEST_WAIT)
          .optional()
          .describe('How many seconds to wait for it'),
      }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ delivery_id, wait_seconds = 0 }, ctx) => orRefusal(() => lookAt(room, delivery_id, wait_seconds, ctx)),
  );
  server.registerTool(
    'wake_responses',
    {
      title: 'All answers since a point',
      description:
        'The answers to your deliveries, oldest change first. Give next_since of the last call as since, and nothing is missed.',
      inputSchema: z.object({
        // Null is what next_since is as long as nobody has answered.
        since: z.string().max(64).nullish(),
        statuses: z.array(z.enum(['pending', 'approved', 'rejected', 'redirected'])).optional(),
        limit: z.number().int().min(1).max(200).optional(),
      }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ since, statuses, limit = 50 }, ctx) =>
      orRefusal(async () => {
        const responses: Record<string, unknown>[] = [];
        let next_since = since ?? null;
        const onForeign = () => (room.vouchesForIds ? 'adopt' : 'refuse') as 'adopt' | 'refuse';
        const sweep = room.wake.sweep({ since, statuses, limit, onForeign, signal: ctx.mcpReq.signal });
        for await (const answer of sweep) {
          responses.push(fromAnswer(answer));
          next_since = answer.resumeFrom;
          if (responses.length === limit) break;
        }
        return done({ responses, next_since }, `${counted(responses.length, 'answer')}.`);
      }),
  );
}
