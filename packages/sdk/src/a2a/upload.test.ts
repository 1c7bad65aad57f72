import { createReadStream, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { manualClock } from '../testing/clock.ts';
import { temporaryFolder } from '../testing/hub.ts';
import { type Script, startRoom, TEST_KEY } from '../testing/room.ts';
import type { ContentSource } from './task.ts';
import { createUpload } from './upload.ts';

const URL_OF_IT = 'https://desk.example/a2a/files/1';

async function room(script: Script) {
  const { url, seen } = await startRoom(script);
  const parts = { endpoint: { base: url }, apiKey: TEST_KEY, fetch, clock: manualClock(), random: () => 0 };
  const upload = createUpload(parts);
  return {
    seen,
    upload: (content: ContentSource) => upload('task-1', content, new AbortController().signal),
  };
}

function fileWith(text: string): string {
  const path = join(temporaryFolder(), 'report.txt');
  writeFileSync(path, text);
  return path;
}

const streamOf = (path: string) => Readable.toWeb(createReadStream(path)) as ReadableStream;

it('[A20] every kind of content arrives whole, also when it has to be sent again', async () => {
  const path = fileWith('The report.');
  const sources: ContentSource[] = [
    () => 'The report.',
    () => new TextEncoder().encode('The report.'),
    () => readFile(path),
    () => new Blob(['The ', 'report.']),
    () => streamOf(path),
  ];
  for (const source of sources) {
    const { upload, seen } = await room((_, count) =>
      count === 1 ? { status: 503 } : { status: 201, body: { url: URL_OF_IT } },
    );
    expect(await upload(source)).toBe(URL_OF_IT);
    expect(seen.map(({ body }) => body)).toEqual(['The report.', 'The report.']);
  }
});

it('[A20] content that cannot be read is told, and not tried for ever', async () => {
  const { upload } = await room(() => ({ status: 201, body: { url: URL_OF_IT } }));
  const gone = join(temporaryFolder(), 'gone.txt');
  await expect(upload(() => streamOf(gone))).rejects.toMatchObject({
    fault: 'wrong_usage',
    message: expect.stringContaining('ENOENT'),
  });
  const breaks = () =>
    new ReadableStream({
      start: (out) => out.enqueue(new Uint8Array(1_000)),
      pull: () => Promise.reject(new Error('The disk is gone.')),
    });
  await expect(upload(breaks)).rejects.toThrow('cannot be read: The disk is gone.');
});
