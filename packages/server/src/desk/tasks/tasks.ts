import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { JsonObject } from '../../core/canonical.ts';
import { IMAGE_MOST, imageTypeOf } from '../../core/deliveries/content/image.ts';
import { Fault, orThrow } from '../../core/faults.ts';
import { noTask } from '../../core/tasks/callers/place.ts';
import { cancelAsPerson } from '../../core/tasks/cancel.ts';
import { findContentOfSpace, readAll, readContent } from '../../core/tasks/content/content.ts';
import { openEntry, PAGE_BYTES, pageOfLog } from '../../core/tasks/log/log.ts';
import { readLog } from '../../core/tasks/log/log-memory.ts';
import { TASK_STATES, type TaskRecord } from '../../core/tasks/task.ts';
import { attachment } from '../../http/files/attachment.ts';
import { askedSlice } from '../../http/files/ranges.ts';
import { choice, cursorOf, type Query, single, wholeQuery } from '../../http/reading/fields.ts';
import type { Shell } from '../../http/shell.ts';
import { endStalled } from '../../http/waiting/large-answers.ts';
import { requireRole } from '../auth.ts';
import { sendExact } from '../exact.ts';
import { caller } from '../person.ts';
import { turnOf } from '../turn.ts';
import { fromEntry, fromTaskCursor, partOf, showTask, toTaskCursor } from './mapping.ts';

type ById = { Params: { id: string } };
type ByContent = { Params: { id: string; content: string } };

const ENTRIES = 200;

/** A2A tasks, whoever opened them: everybody of the space may read them, deciders may cancel. */
export function taskRoutes(app: FastifyInstance, shell: Shell): void {
  const { room } = shell;

  app.get('/desk/tasks', async (request) => {
    const query = request.query as Query;
    const state = single(query, 'state');
    const limit = wholeQuery(query, 'limit', { least: 1, most: 200 }) ?? 50;
    const asked = {
      agent: single(query, 'agent') ?? undefined,
      state: state === null ? undefined : choice('state', state, TASK_STATES),
      before: toTaskCursor(cursorOf(query)),
      limit: limit + 1,
    };
    return room.store.read(caller(request).space, async (tx) => {
      const found = await tx.tasks.list(asked);
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      return {
        tasks: await Promise.all(page.map((task) => showTask(room, tx, task))),
        next_cursor: last === undefined ? null : fromTaskCursor(last),
      };
    });
  });

  /** With the log after `after`: a page that follows a task asks only for what is new. */
  app.get<ById>('/desk/tasks/:id', async (request, reply) => {
    const query = request.query as Query;
    const after = wholeQuery(query, 'after', { least: 0, most: 999_999_999 }) ?? 0;
    const { logBytes } = await findTask(shell, request);
    await turnOf(shell, { request, reply, bytes: Math.min(logBytes, PAGE_BYTES) });
    const shown = await room.store.read(caller(request).space, async (tx) => {
      const task = await tx.tasks.get(request.params.id);
      if (task === null) throw noTask();
      const stored = await pageOfLog(tx, task, { after, most: ENTRIES });
      const last = stored.at(-1)?.pos ?? after;
      return {
        ...(await showTask(room, tx, task)),
        log: stored.map((entry) => fromEntry(openEntry(room, task, entry))),
        next_after: last < task.length ? last : null,
      };
    });
    return sendExact(reply, shown);
  });

  app.post<ById>('/desk/tasks/:id/cancel', async (request) => {
    const person = caller(request);
    requireRole(person, 'decider');
    const task = orThrow(await cancelAsPerson(room, person, request.params.id));
    return room.store.read(person.space, (tx) => showTask(room, tx, task));
  });

  app.get<ByContent>('/desk/tasks/:id/content/:content', async (request, reply) => {
    const { space } = caller(request);
    const { id, content } = request.params;
    const blob = orThrow(await findContentOfSpace(room, space, id, content));
    if (single(request.query as Query, 'as') === 'image') {
      if (blob.size > IMAGE_MOST) throw notAnImage();
      await turnOf(shell, { request, reply, bytes: blob.size });
      return sendImage(reply, await readAll(room, space, blob));
    }
    const { logBytes } = await findTask(shell, request);
    await turnOf(shell, { request, reply, bytes: logBytes });
    const part = await room.store.read(space, async (tx) => {
      const task = await tx.tasks.get(id);
      return task === null ? {} : partOf(await readLog(room, tx, task), content);
    });
    shell.largeAnswers.taken(reply.raw);
    endStalled(reply.raw);
    const slice = askedSlice(request, reply, { tag: blob.id, size: blob.size });
    return sendFile(reply, part, Readable.from(readContent(room, space, blob, slice)));
  });
}

async function findTask({ room }: Shell, request: FastifyRequest<ById>): Promise<TaskRecord> {
  const task = await room.store.read(caller(request).space, (tx) => tx.tasks.get(request.params.id));
  if (task === null) throw noTask();
  return task;
}

/** The type is judged by the bytes; harmless even when opened by itself (D49). */
function sendImage(reply: FastifyReply, bytes: Uint8Array): FastifyReply {
  const type = imageTypeOf(bytes);
  if (type === null) throw notAnImage();
  return reply
    .headers({ ...INERT, 'content-type': type, 'content-disposition': 'inline' })
    .send(Buffer.from(bytes));
}

function notAnImage(): Fault {
  return new Fault('image_unavailable', 'This is not an image that can be shown here. Save it instead.');
}

/** Always saved, never opened: whatever an agent calls it, no browser runs it from here. */
function sendFile(reply: FastifyReply, part: JsonObject, content: Readable): FastifyReply {
  return reply
    .headers({
      ...INERT,
      'content-type': 'application/octet-stream',
      'content-disposition': attachment(typeof part.filename === 'string' ? part.filename : ''),
    })
    .send(content);
}

const INERT = {
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'private, no-store',
};
