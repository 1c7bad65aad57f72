import { createHash, randomBytes } from 'node:crypto';
import { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { MadeAgent } from '../../../core/agents/found.ts';
import { CHUNK, retireContent } from '../../../core/tasks/content/content.ts';
import { MOST_UNNAMED } from '../../../core/tasks/content/upload.ts';
import { aLaptop, anAgent, TestCaller, useWorld, v1Message, type Wire } from '../../../testing/a2a/a2a.ts';
import { until } from '../../../testing/waiting.ts';

const world = useWorld();

async function stage() {
  const agent = await anAgent(world());
  const caller = new TestCaller(world(), agent, { version: '1.0' });
  const laptop = await aLaptop(world(), agent);
  const sent = await caller.call('SendMessage', {
    ...v1Message('x'),
    configuration: { returnImmediately: true },
  });
  return { agent, caller, laptop, taskId: (sent.result.task as { id: string }).id };
}

type Uploaded = { url: string; size: number; sha256: string };

function blobIdOf({ url }: Uploaded): string {
  return /^lantern-upload:(\w+)\./.exec(url)?.[1] ?? '';
}

async function upload(
  agent: MadeAgent,
  taskId: string,
  body: string | Uint8Array | ReadableStream,
): Promise<Response> {
  return fetch(`${world().url}/a2a/uploads?taskId=${taskId}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${agent.key}`, 'content-type': 'application/octet-stream' },
    body,
    duplex: 'half',
  } as unknown as RequestInit);
}

async function partsOf(caller: TestCaller, id: string): Promise<Wire[]> {
  const { result } = await caller.call('GetTask', { id });
  return (result.artifacts as { parts: Wire[] }[]).flatMap(({ parts }) => parts);
}

const hasChunk = (id: string, place: number) =>
  world().room.store.read(world().space.id, async (tx) => (await tx.blobs.chunk(id, place)) !== null);

const blobs = () =>
  world().room.store.read(world().space.id, async (tx) => tx.blobs.unused(Number.MAX_SAFE_INTEGER, 1000));

describe('content', () => {
  test('[A20] bytes in a frame come back as they were sent, and equal ones are stored once', async () => {
    const { caller, laptop, taskId } = await stage();
    const raw = randomBytes(20_000).toString('base64');
    for (const artifactId of ['a', 'b']) {
      await laptop.say({
        type: 'artifact',
        taskId,
        artifact: { artifactId, parts: [{ raw, mediaType: 'image/png', filename: 'p.png' }] },
      });
    }
    expect(await partsOf(caller, taskId)).toEqual([
      { raw, mediaType: 'image/png', filename: 'p.png' },
      { raw, mediaType: 'image/png', filename: 'p.png' },
    ]);
    const ids = await world().room.store.read(world().space.id, async (tx) => {
      const task = await tx.tasks.get(taskId);
      const log = JSON.stringify(await Promise.all([2, 3].map((pos) => tx.tasks.entry(task?.seq ?? 0, pos))));
      expect(log).not.toContain(raw.slice(0, 40));
      return tx.blobs.byDigest(
        world().room.vault.mac(
          `content\n${tx.space}\n${createHash('sha256').update(Buffer.from(raw, 'base64')).digest('hex')}`,
        ),
      );
    });
    expect(ids).toMatchObject({ size: 20_000, chunks: 1 });
  });

  test('[A20] a hundred megabytes stream in and out, and are never in memory as a whole', async () => {
    const { agent, caller, laptop, taskId } = await stage();
    const CHUNK = Buffer.alloc(1024 * 1024, 'x');
    const COUNT = 100;
    const hash = createHash('sha256');
    for (let i = 0; i < COUNT; i++) hash.update(CHUNK);
    const sha256 = hash.digest('hex');
    const openBlob = async () => {
      const found = await blobs();
      return found.at(-1) ?? '';
    };
    async function* large() {
      for (let i = 0; i < COUNT; i++) {
        yield CHUNK;
        // Nothing more is sent before what was sent is on disk: a server that holds it would wait here for ever.
        if (i === 10) await until(async () => hasChunk(await openBlob(), 30));
      }
    }
    const reply = await upload(agent, taskId, Readable.toWeb(Readable.from(large())) as ReadableStream);
    expect(reply.status).toBe(201);
    const uploaded = (await reply.json()) as Uploaded;
    expect(uploaded).toMatchObject({ size: COUNT * CHUNK.length, sha256 });
    const artifact = {
      artifactId: 'big',
      parts: [{ url: uploaded.url, mediaType: 'video/mp4', filename: 'film ä.mp4' }],
    };
    expect(await laptop.say({ type: 'artifact', taskId, artifact })).toMatchObject({ type: 'ack' });
    const [part] = await partsOf(caller, taskId);
    expect(part).toMatchObject({ mediaType: 'video/mp4', filename: 'film ä.mp4' });
    const read = await fetch(String(part?.url), { headers: { authorization: `Bearer ${agent.key}` } });
    expect(read.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''film%20%C3%A4.mp4");
    expect(read.headers.get('x-content-type-options')).toBe('nosniff');
    expect(Number(read.headers.get('content-length'))).toBe(COUNT * CHUNK.length);
    const received = createHash('sha256');
    if (read.body !== null) for await (const chunk of read.body) received.update(chunk as Uint8Array);
    expect(received.digest('hex')).toBe(sha256);
  });

  test('[A20] a download that broke off is taken up where it did, at the agent and on the desk', async () => {
    const { agent, caller, laptop, taskId } = await stage();
    const content = randomBytes(CHUNK * 2 + 1000);
    const { url } = (await (await upload(agent, taskId, content)).json()) as Uploaded;
    const artifact = { artifactId: 'big', parts: [{ url, filename: 'film.mp4' }] };
    expect(await laptop.say({ type: 'artifact', taskId, artifact })).toMatchObject({ type: 'ack' });
    const [part] = await partsOf(caller, taskId);
    const address = String(part?.url);
    const read = (headers: Record<string, string>, method = 'GET') =>
      fetch(address, { method, headers: { authorization: `Bearer ${agent.key}`, ...headers } });
    const size = content.length;

    const whole = await read({});
    expect([whole.status, whole.headers.get('accept-ranges')]).toEqual([200, 'bytes']);
    const etag = whole.headers.get('etag') ?? '';
    await whole.body?.cancel();

    for (const [range, from, to] of [
      [`bytes=${CHUNK - 10}-`, CHUNK - 10, size],
      ['bytes=0-0', 0, 1],
      [`bytes=${CHUNK * 2 - 5}-${CHUNK * 2 + 4}`, CHUNK * 2 - 5, CHUNK * 2 + 5],
      ['bytes=-7', size - 7, size],
      [`bytes=${CHUNK}-${size + 50}`, CHUNK, size],
    ] as const) {
      const reply = await read({ range, 'if-range': etag });
      expect([range, reply.status, reply.headers.get('content-range')]).toEqual([
        range,
        206,
        `bytes ${from}-${to - 1}/${size}`,
      ]);
      expect(reply.headers.get('content-length')).toBe(String(to - from));
      expect(content.subarray(from, to).equals(Buffer.from(await reply.arrayBuffer()))).toBe(true);
    }
    // Another version, several at once, another unit, backwards, or only the headers: the whole.
    for (const headers of [
      { range: 'bytes=5-', 'if-range': '"another"' },
      { range: 'bytes=0-1,4-5' },
      { range: 'lines=1-2' },
      { range: 'bytes=9-5' },
    ] as Record<string, string>[]) {
      const reply = await read(headers);
      expect([headers, reply.status, (await reply.arrayBuffer()).byteLength]).toEqual([headers, 200, size]);
    }
    expect((await read({ range: 'bytes=5-' }, 'HEAD')).status).toBe(200);
    for (const range of [`bytes=${size}-`, 'bytes=-0']) {
      const reply = await read({ range });
      expect([range, reply.status, reply.headers.get('content-range')]).toEqual([
        range,
        416,
        `bytes */${size}`,
      ]);
    }
  });

  test('[A20] what grew by small chunks is not in memory as a whole either: an answer brings 4 MiB of it', async () => {
    const { agent, caller, laptop, taskId } = await stage();
    const sent: string[] = [];
    for (let i = 0; i < 20; i++) {
      const raw = randomBytes(240_000).toString('base64');
      sent.push(raw);
      const artifact = { artifactId: 'grown', parts: [{ raw }] };
      expect(await laptop.say({ type: 'artifact', taskId, artifact, append: i > 0 })).toMatchObject({
        type: 'ack',
      });
    }
    const parts = await partsOf(caller, taskId);
    expect(parts.slice(0, 17)).toEqual(sent.slice(0, 17).map((raw) => ({ raw })));
    expect(parts.slice(17)).toEqual(
      Array(3).fill({ url: expect.stringContaining(`/tasks/${taskId}/content/`) }),
    );
    const read = await fetch(String(parts[19]?.url), { headers: { authorization: `Bearer ${agent.key}` } });
    expect(Buffer.from(await read.arrayBuffer()).toString('base64')).toBe(sent[19]);
    const listed = await caller.call('ListTasks', { includeArtifacts: true });
    expect(JSON.stringify(listed).length).toBeLessThan(6 * 1024 * 1024);
  });

  test('[A20] the same upload again is the same content', async () => {
    const { agent, taskId } = await stage();
    const bytes = randomBytes(600_000);
    const [first, second] = [await upload(agent, taskId, bytes), await upload(agent, taskId, bytes)];
    expect(await second.json()).toEqual(await first.json());
  });

  test('[A20] only whoever may read the task gets its content', async () => {
    const { agent, caller, laptop, taskId } = await stage();
    const uploaded = (await (await upload(agent, taskId, randomBytes(300_000))).json()) as Uploaded;
    await laptop.say({
      type: 'artifact',
      taskId,
      artifact: { artifactId: 'a', parts: [{ url: uploaded.url }] },
    });
    const [part] = await partsOf(caller, taskId);
    const url = String(part?.url);
    const statusFor = async (key: string | null, address = url) =>
      (await fetch(address, { headers: key === null ? {} : { authorization: `Bearer ${key}` } })).status;
    const stranger = await anAgent(world());
    expect(await statusFor(agent.key)).toBe(200);
    expect(await statusFor(stranger.key)).toBe(404);
    expect(await statusFor(null)).toBe(401);
    const other = await caller.call('SendMessage', {
      ...v1Message('y'),
      configuration: { returnImmediately: true },
    });
    const elsewhere = url.replace(taskId, (other.result.task as { id: string }).id);
    expect(await statusFor(agent.key, elsewhere)).toBe(404);
  });

  test('[A20][W29] who reads nothing of a file for a minute is cut off, at the agent and at the desk', async () => {
    const { agent, caller, laptop, taskId } = await stage();
    const uploaded = (await (await upload(agent, taskId, randomBytes(300_000))).json()) as Uploaded;
    const artifact = { artifactId: 'a', parts: [{ url: uploaded.url }] };
    await laptop.say({ type: 'artifact', taskId, artifact });
    const [part] = await partsOf(caller, taskId);
    const limits = vi.spyOn(ServerResponse.prototype, 'setTimeout');
    onTestFinished(() => limits.mockRestore());
    const headers = { authorization: `Bearer ${agent.key}` };
    await (await fetch(String(part?.url), { headers })).arrayBuffer();
    expect(limits.mock.lastCall).toEqual([60_000]);
    limits.mockClear();
    const desk = await world().desk('GET', `/desk/tasks/${taskId}/content/${blobIdOf(uploaded)}`);
    expect((await desk.arrayBuffer()).byteLength).toBe(300_000);
    expect(limits.mock.lastCall).toEqual([60_000]);
  });

  test("[A20] uploads are for one's own tasks, and an artifact names only what is there", async () => {
    const { agent, laptop, taskId } = await stage();
    const stranger = await anAgent(world());
    expect((await upload(stranger, taskId, 'x')).status).toBe(404);
    expect((await upload(agent, 'nobody', 'x')).status).toBe(404);
    const artifact = { artifactId: 'a', parts: [{ url: 'lantern-upload:blob_nothing' }] };
    expect(await laptop.say({ type: 'artifact', taskId, artifact })).toMatchObject({
      code: 'invalid_frame',
      message: expect.stringContaining('upload'),
    });
  });

  test('[A20] an upload is of one task: neither another task nor another agent can name it', async () => {
    const { agent, caller, laptop, taskId } = await stage();
    const stranger = await stage();
    const bytes = randomBytes(4000);
    const uploaded = (await (await upload(agent, taskId, bytes)).json()) as Uploaded;
    const second = await caller.call('SendMessage', {
      ...v1Message('y'),
      configuration: { returnImmediately: true },
    });
    const name = (who: typeof laptop, task: string, url: string) =>
      who.say({ type: 'artifact', taskId: task, artifact: { artifactId: 'a', parts: [{ url }] } });
    const refusal = { code: 'invalid_frame', message: expect.stringContaining('Upload the content again') };
    const other = (second.result.task as { id: string }).id;
    expect(await name(laptop, other, uploaded.url)).toMatchObject(refusal);
    expect(await name(stranger.laptop, stranger.taskId, uploaded.url)).toMatchObject(refusal);
    expect(await name(laptop, taskId, uploaded.url.split('.')[0] ?? '')).toMatchObject(refusal);
    // Equal content is stored once, but each artifact can name only its own upload.
    const theirs = (await (await upload(stranger.agent, stranger.taskId, bytes)).json()) as Uploaded;
    expect(blobIdOf(theirs)).toBe(blobIdOf(uploaded));
    expect(await name(laptop, taskId, theirs.url)).toMatchObject(refusal);
    expect(await name(stranger.laptop, stranger.taskId, theirs.url)).toMatchObject({ type: 'ack' });
    expect(await name(laptop, taskId, uploaded.url)).toMatchObject({ type: 'ack' });
  });

  test('[A20] an upload that breaks off leaves nothing behind', async () => {
    const { agent, taskId } = await stage();
    const kept = async () => {
      const [row] = await world().sql('select count(*) as n from blobs where agent_id = ?', agent.agent.id);
      return Number(row?.n);
    };
    const { hostname, port } = new URL(world().url);
    const socket = connect(Number(port), hostname);
    socket.write(
      [
        `POST /a2a/uploads?taskId=${taskId} HTTP/1.1`,
        'host: localhost',
        `authorization: Bearer ${agent.key}`,
        'content-type: application/octet-stream',
        'content-length: 10000000',
        '',
        '',
      ].join('\r\n'),
    );
    socket.write(randomBytes(1_000_000));
    await until(async () => (await kept()) === 1);
    socket.destroy();
    await until(async () => (await kept()) === 0);
  });

  test('[A20] an agent that names nothing of what it uploads is refused more, and taken up again once it does', async () => {
    const { agent, laptop, taskId } = await stage();
    const others = await stage();
    const first = (await (await upload(agent, taskId, randomBytes(3000))).json()) as Uploaded;
    const seeded: string[] = [];
    const uploadedBefore = (count: number, size: number) =>
      world().room.store.write(world().space.id, [], async (tx) => {
        const createdAt = world().room.clock.now();
        const blob = { agent: agent.agent.id, digest: null, size, chunks: 0, createdAt, isUnnamed: true };
        for (let i = 0; i < count; i++) {
          const id = `blob_${agent.agent.id}_${seeded.length}`;
          await tx.blobs.insert({ ...blob, id });
          seeded.push(id);
        }
      });
    onTestFinished(() =>
      world().room.store.write(world().space.id, [], async (tx) => {
        for (const id of seeded) await tx.blobs.remove(id);
      }),
    );
    const name = ({ url }: Uploaded) =>
      laptop.say({ type: 'artifact', taskId, artifact: { artifactId: 'a', parts: [{ url }] } });
    const kept = async () => {
      const [row] = await world().sql('select count(*) as n from blobs where agent_id = ?', agent.agent.id);
      return Number(row?.n);
    };

    await uploadedBefore(1, MOST_UNNAMED.bytes - 3000 - CHUNK);
    expect((await upload(agent, taskId, randomBytes(100))).status).toBe(201);
    const before = await kept();
    const refused = await upload(agent, taskId, randomBytes(CHUNK + 1000));
    expect([refused.status, await refused.json()]).toMatchObject([
      413,
      { error: { message: expect.stringContaining('Send the artifacts first') } },
    ]);
    expect(await kept()).toBe(before);
    expect((await upload(others.agent, others.taskId, randomBytes(CHUNK + 1000))).status).toBe(201);
    expect(await name(first)).toMatchObject({ type: 'ack' });
    expect((await upload(agent, taskId, randomBytes(CHUNK + 1000))).status).toBe(201);

    await uploadedBefore(MOST_UNNAMED.count - 4, 0);
    const last = (await (await upload(agent, taskId, randomBytes(1))).json()) as Uploaded;
    expect((await upload(agent, taskId, randomBytes(2))).status).toBe(413);
    expect(await name(last)).toMatchObject({ type: 'ack' });
    expect((await upload(agent, taskId, randomBytes(2))).status).toBe(201);
  });

  test('[A20] an upload that comes again is as good as new: it does not leave before it can be named', async () => {
    const { agent, caller, laptop, taskId } = await stage();
    const bytes = randomBytes(4001);
    await upload(agent, taskId, bytes);
    const unusedBefore = world().room.clock.now();
    const again = (await (await upload(agent, taskId, bytes)).json()) as Uploaded;
    await retireContent(world().room, world().space.id, unusedBefore);
    const artifact = { artifactId: 'a', parts: [{ url: again.url }] };
    expect(await laptop.say({ type: 'artifact', taskId, artifact })).toMatchObject({ type: 'ack' });
    expect(await partsOf(caller, taskId)).toEqual([{ raw: bytes.toString('base64') }]);
  });

  test('[A20] content that no task names leaves, and stays as long as one does', async () => {
    const { agent, laptop, taskId } = await stage();
    const kept = (await (await upload(agent, taskId, randomBytes(5000))).json()) as Uploaded;
    await laptop.say({ type: 'artifact', taskId, artifact: { artifactId: 'a', parts: [{ url: kept.url }] } });
    await upload(agent, taskId, randomBytes(5001));
    expect(await blobs()).not.toEqual([]);
    await retireContent(world().room, world().space.id, Number.MAX_SAFE_INTEGER);
    expect(await blobs()).toEqual([]);
    const left = await world().room.store.read(world().space.id, (tx) => tx.blobs.get(blobIdOf(kept)));
    expect(left).toMatchObject({ size: 5000 });
  });
});

test('[A9] a chunk costs as much as the chunk: the statements it takes do not grow with the artifact', async () => {
  const { caller, laptop, taskId } = await stage();
  const text = 'x'.repeat(1024);
  for (let i = 0; i < 200; i++) {
    await laptop.say({
      type: 'artifact',
      taskId,
      append: true,
      artifact: { artifactId: 'a', parts: [{ text }] },
    });
  }
  const sizes = await world().room.store.read(world().space.id, async (tx) => {
    const task = await tx.tasks.get(taskId);
    return (await tx.tasks.log(task?.seq ?? 0, 1, 1000)).map(({ body }) => body?.length);
  });
  expect(sizes).toHaveLength(200);
  expect(new Set(sizes).size).toBe(1);
  expect(await partsOf(caller, taskId)).toHaveLength(200);
});

test('[A20] an artifact without append takes the place of the one before', async () => {
  const { agent, laptop, taskId } = await stage();
  for (const text of ['draft', 'final']) {
    await laptop.say({ type: 'artifact', taskId, artifact: { artifactId: 'a', parts: [{ text }] } });
  }
  const { result } = await new TestCaller(world(), agent).call('tasks/get', { id: taskId });
  expect(result.artifacts).toMatchObject([{ artifactId: 'a', parts: [{ text: 'final' }] }]);
});
