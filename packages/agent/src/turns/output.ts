import type { ArtifactDraft, Part, Said } from '@lanternroom/sdk/a2a';

export type EndState = 'completed' | 'failed' | 'rejected' | 'input_required' | 'auth_required';

/** What a command has answered. */
export interface Answered {
  readonly state: EndState;
  readonly said: Said | undefined;
  readonly artifacts: readonly ArtifactDraft[];
}

/** What a command says while it works. */
export type Progress =
  | { readonly kind: 'status'; readonly said: Said }
  | {
      readonly kind: 'artifact';
      readonly artifact: ArtifactDraft;
      readonly append: boolean | undefined;
      readonly lastChunk: boolean | undefined;
    };

type Fields = Readonly<Record<string, unknown>>;

const END_STATES: readonly EndState[] = [
  'completed',
  'failed',
  'rejected',
  'input_required',
  'auth_required',
];

/** Standard output, in any dialect of A2A (A15). Whatever is not understood is taken as the answer's text. */
export function readOutput(output: string): Answered {
  const text = output.trimEnd();
  const plain = { state: 'completed', said: text === '' ? undefined : text, artifacts: [] } as const;
  const value = parse(text);
  return isFields(value) ? (readAnswer(value) ?? plain) : plain;
}

function readAnswer(value: Fields): Answered | null {
  // A whole task has its state and its words one level down.
  const status = isFields(value.status) ? value.status : value;
  const isMessage = Array.isArray(value.parts) && typeof value.role === 'string' && value.state === undefined;
  const state = isMessage ? 'completed' : endState(status.state);
  if (state === null) return null;
  const said = isMessage ? saidIn({ message: value }) : saidIn(status);
  const artifacts = readArtifacts(value.artifacts);
  return said === null || artifacts === null ? null : { state, said, artifacts };
}

/** A line of output that tells how it is going, or null for any other. */
export function readProgress(line: string): Progress | null {
  const value = line.startsWith('{') ? parse(line) : null;
  if (!isFields(value)) return null;
  if (value.artifact !== undefined) return readChunk(value);
  const status = isFields(value.status) ? value.status : value;
  if (spelled(status.state) !== 'working') return null;
  const said = saidIn(status);
  return said ? { kind: 'status', said } : null;
}

function readChunk(value: Fields): Progress | null {
  const artifact = readArtifact(value.artifact);
  const flag = (one: unknown) => (typeof one === 'boolean' ? one : undefined);
  if (artifact === null) return null;
  const lastChunk = flag(value.lastChunk ?? value.last_chunk);
  return { kind: 'artifact', artifact, append: flag(value.append), lastChunk };
}

/** `TASK_STATE_INPUT_REQUIRED`, `input-required` and `input_required` are one state. */
function spelled(state: unknown): string {
  if (typeof state !== 'string') return '';
  return state
    .toLowerCase()
    .replace(/^task_state_/, '')
    .replaceAll('-', '_');
}

function endState(state: unknown): EndState | null {
  return END_STATES.find((one) => one === spelled(state)) ?? null;
}

/** Undefined when nothing was said, null when it cannot be read. */
function saidIn({ message, text, parts }: Fields): Said | undefined | null {
  if (typeof text === 'string' && message === undefined) return text;
  if (typeof message === 'string') return message;
  const source = isFields(message) ? message.parts : parts;
  if (source === undefined) return message === undefined || message === null ? undefined : null;
  const read = readParts(source);
  return read === null ? null : { parts: read };
}

function readArtifacts(value: unknown): ArtifactDraft[] | null {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return null;
  return allOrNull(value.map(readArtifact));
}

function readArtifact(value: unknown): ArtifactDraft | null {
  if (!isFields(value)) return null;
  const parts = typeof value.text === 'string' ? [{ text: value.text }] : readParts(value.parts);
  if (parts === null) return null;
  const artifactId = textOf(value.artifactId ?? value.artifact_id);
  const { name, description } = value;
  return {
    parts,
    ...(artifactId === undefined ? {} : { artifactId }),
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    ...(isFields(value.metadata) ? { metadata: { ...value.metadata } } : {}),
  };
}

function readParts(value: unknown): Part[] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  return allOrNull(value.map(readPart));
}

/** `{text}` of 1.0, `{kind}` of 0.3 and `{type}` of the seed. */
function readPart(value: unknown): Part | null {
  if (!isFields(value)) return null;
  const file = isFields(value.file) ? value.file : value;
  const content = contentOf(value, file);
  if (content === null) return null;
  const metadata = isFields(value.metadata) ? value.metadata : {};
  const mediaType = textOf(
    value.mediaType ?? value.media_type ?? file.mimeType ?? file.mediaType ?? metadata.mediaType,
  );
  const filename = textOf(value.filename ?? file.filename ?? file.name);
  return {
    ...content,
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(filename === undefined ? {} : { filename }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata: { ...metadata } }),
  };
}

function contentOf(value: Fields, file: Fields): Part | null {
  if (typeof value.text === 'string') return { text: value.text };
  if (value.data !== undefined) return { data: value.data };
  const raw = textOf(value.raw ?? file.bytes ?? file.fileWithBytes);
  if (raw !== undefined) return { raw };
  const url = textOf(value.url ?? file.uri ?? file.fileWithUri);
  return url === undefined ? null : { url };
}

function allOrNull<T>(list: readonly (T | null)[]): T[] | null {
  const read = list.filter((one): one is T => one !== null);
  return read.length === list.length ? read : null;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
