import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { isJsonObject } from '../../../core/canonical.ts';
import { Fault, orThrow } from '../../../core/faults.ts';
import { noTask } from '../../../core/tasks/callers/place.ts';
import { findContent, readContent } from '../../../core/tasks/content/content.ts';
import { upload, uploadTooLarge } from '../../../core/tasks/content/upload.ts';
import { readTask } from '../../../core/tasks/reading/read.ts';
import { identify } from '../../../http/entry/agent-key.ts';
import { attachment } from '../../../http/files/attachment.ts';
import { askedSlice } from '../../../http/files/ranges.ts';
import { type Query, single } from '../../../http/reading/fields.ts';
import type { Shell } from '../../../http/shell.ts';
import { bePatient } from '../../../http/sockets/broken.ts';
import { endStalled } from '../../../http/waiting/large-answers.ts';
import type { A2aParts } from '../bindings/rpc-route.ts';
import { enteredOf } from '../door.ts';
import { UploadedBody } from '../schema.ts';
import { foundTask, turnOf } from '../tasks/operations.ts';

const UPLOAD_MOST = 1024 * 1024 * 1024;

/** `POST /a2a/uploads`: content that does not fit a frame, streamed onto the disk (A20). */
export function uploadRoute(app: FastifyInstance, shell: Shell): void {
  app.removeAllContentTypeParsers();
  // The body stays a stream, so that none of it is held in memory.
  app.addContentTypeParser('*', (_, payload, done) => done(null, payload));
  app.addHook('onRequest', async (request) => {
    request.identity = await identify(shell.room, request);
  });
  app.route({
    method: 'POST',
    url: '/a2a/uploads',
    config: {
      summary: 'Content of an artifact that is too large for a frame',
      parameters: [{ name: 'taskId', in: 'query', required: true, schema: Type.String() }],
      body: 'bytes',
      response: { 201: UploadedBody },
    },
    handler: async (request, reply) => reply.code(201).send(await takeUpload(shell, request)),
  });
}

async function takeUpload({ room }: Shell, request: FastifyRequest) {
  const key = request.identity?.key;
  if (key === undefined) throw new Error('a route without a caller');
  const taskId = single(request.query as Query, 'taskId') ?? '';
  const task = await room.store.read(key.space, (tx) => tx.tasks.get(taskId));
  if (task === null || task.agent !== key.agent) throw noTask();
  bePatient(request.raw.socket);
  const { body } = request;
  if (!(body instanceof Readable)) throw new Fault('malformed_body', 'The body is empty; send the content.');
  if (Number(request.headers['content-length'] ?? 0) > UPLOAD_MOST) throw uploadTooLarge(UPLOAD_MOST);
  const hash = createHash('sha256');
  const hasher = { update: (bytes: Uint8Array) => void hash.update(bytes), digest: () => hash.digest('hex') };
  const where = { space: key.space, agent: key.agent, task: task.id, hasher, most: UPLOAD_MOST };
  try {
    return orThrow(await upload(room, where, whileValid(room, request, body)));
  } finally {
    // A client that is refused midway must be able to read why: the rest is read and discarded.
    body.resume();
  }
}

const ASKED_EVERY_BYTES = 4 * 1024 * 1024;

/** An upload may take all the time it needs, but not beyond the end of its key (W28). */
async function* whileValid(
  room: Shell['room'],
  request: FastifyRequest,
  body: Readable,
): AsyncGenerator<Uint8Array> {
  let unasked = 0;
  for await (const bytes of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
    unasked += bytes.length;
    if (unasked >= ASKED_EVERY_BYTES) {
      unasked = 0;
      await identify(room, request);
    }
    yield bytes;
  }
  await identify(room, request);
}

type ContentParams = { id: string; content: string };

/** Large content, at its own address, only to whoever may read the task. */
export function contentRoute(app: FastifyInstance, { shell }: A2aParts): void {
  app.route<{ Params: ContentParams }>({
    method: 'GET',
    url: '/@:handle/:agent/tasks/:id/content/:content',
    config: { summary: 'Large content of an artifact, as a file', response: { 200: 'bytes', 206: 'bytes' } },
    handler: async (request, reply) => {
      const entered = enteredOf(request);
      const { place } = entered;
      const { id, content } = request.params;
      const blob = orThrow(await findContent(shell.room, place, id, content));
      const { logBytes } = await foundTask({ shell, entered }, id);
      // What the file is called stands in the log, and all of that is read to find it.
      await turnOf({ shell, entered, request, response: reply.raw }, logBytes);
      const { view } = orThrow(await readTask(shell.room, place, id, { historyLength: 0 }));
      const part = (view.artifacts ?? [])
        .flatMap((artifact) => artifact.parts)
        .find((p) => refersTo(p, content));
      shell.largeAnswers.taken(reply.raw);
      endStalled(reply.raw);
      const slice = askedSlice(request, reply, { tag: blob.id, size: blob.size });
      return sendContent(reply, part, Readable.from(readContent(shell.room, place.space, blob, slice)));
    },
  });
}

function refersTo(part: unknown, id: string): boolean {
  return isJsonObject(part) && isJsonObject(part.stored) && part.stored.id === id;
}

/** Somebody's file: never run, never sniffed, always saved under a harmless name. */
function sendContent(reply: FastifyReply, part: unknown, content: Readable): FastifyReply {
  const { mediaType, filename } = isJsonObject(part) ? part : {};
  const type = typeof mediaType === 'string' && /^[\w.+-]+\/[\w.+-]+$/.test(mediaType) ? mediaType : null;
  return reply
    .headers({
      'content-type': type ?? 'application/octet-stream',
      'content-disposition': attachment(typeof filename === 'string' ? filename : ''),
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
    })
    .send(content);
}
