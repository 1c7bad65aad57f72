import type { AgentTask, Part, Said } from '@lanternroom/sdk/a2a';

/** A longer text is a file to whoever reads it. */
const TEXT_MOST = 100_000;
/** So much of an answer goes in one frame, which holds a megabyte; the rest is uploaded. */
const FRAME_BYTES = 900_000;
/** Smaller ones are not worth an upload each. */
const SMALL = 2_000;

const TEXT_FILE = 'output.txt';
const REST = 'output';

/** The same parts, with what is too large for a frame uploaded. */
export async function fittingParts(task: AgentTask, parts: readonly Part[]): Promise<Part[]> {
  if (fitsFrame(parts)) return [...parts];
  const fitting: Part[] = [];
  for (const part of parts) fitting.push(isSmall(part) ? part : await uploaded(task, part));
  return fitting;
}

/** Only an artifact can name an upload: what is too large for a message becomes one, and the message says so. */
export async function fittingWords(task: AgentTask, said: Said | undefined): Promise<Said | undefined> {
  if (typeof said === 'string') return said.length <= TEXT_MOST ? said : asFile(task, said);
  if (said === undefined || fitsFrame(said.parts)) return said;
  const parts = await fittingParts(
    task,
    said.parts.filter((part) => !isSmall(part)),
  );
  await task.artifact({ artifactId: REST, name: REST, parts }, { key: REST, lastChunk: true });
  const note = { text: `What is too large for a message is in the artifact "${REST}".` };
  return { ...said, parts: [...said.parts.filter(isSmall), note] };
}

async function asFile(task: AgentTask, text: string): Promise<string> {
  const part = await uploaded(task, { text, filename: TEXT_FILE });
  const artifact = { artifactId: TEXT_FILE, name: TEXT_FILE, parts: [part] };
  await task.artifact(artifact, { key: REST, lastChunk: true });
  return `The answer has ${text.length} characters and is in the file ${TEXT_FILE}.`;
}

function fitsFrame(parts: readonly Part[]): boolean {
  return Buffer.byteLength(JSON.stringify(parts)) <= FRAME_BYTES;
}

function isSmall(part: Part): boolean {
  return contentOf(part).length <= SMALL;
}

function contentOf({ text, raw, data }: Part): string {
  return text ?? raw ?? (data === undefined ? '' : JSON.stringify(data));
}

async function uploaded(task: AgentTask, part: Part): Promise<Part> {
  const { text: _text, data: _data, raw, mediaType = typeOf(part), filename, ...rest } = part;
  const content = raw === undefined ? contentOf(part) : Buffer.from(raw, 'base64');
  return { ...rest, ...(await task.upload(() => content, { mediaType, filename })) };
}

function typeOf({ raw, data }: Part): string | undefined {
  if (raw !== undefined) return undefined;
  return data === undefined ? 'text/plain' : 'application/json';
}
