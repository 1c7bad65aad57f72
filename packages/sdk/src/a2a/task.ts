import { LanternError } from '../faults.ts';
import type { AgentFrame, Ending, WorkFrame } from './frames.ts';
import { type Artifact, type Message, type Part, type TaskDecision, textIn } from './wire.ts';

/** Words of the agent: a text, or parts. */
export type Said = string | { readonly parts: readonly Part[]; readonly metadata?: Record<string, unknown> };

/** For whatever is said in a turn. */
export interface SayOptions {
  /**
   * Makes it safe to say again: of everything that was said under one key in one turn, also by an earlier process, the
   * first counts and the rest is dropped.
   */
  readonly key?: string | undefined;
}

/** For an artifact in pieces. */
export interface ArtifactOptions extends SayOptions {
  /** Adds the parts to the artifact of that id, which must be there. */
  readonly append?: boolean | undefined;
  readonly lastChunk?: boolean | undefined;
}

/** Something that the turn has made. Without an id it gets one of its own. */
export type ArtifactDraft = Omit<Artifact, 'artifactId'> & { readonly artifactId?: string };

/** How an uploaded file is shown to whoever downloads it. */
export interface UploadFacts {
  readonly mediaType?: string | undefined;
  readonly filename?: string | undefined;
}

/** Whatever a request can send: text, bytes, a blob, a stream. Bytes also as `readFile` of older types of Node has them. */
export type Content = NonNullable<ConstructorParameters<typeof Response>[0]> | Uint8Array;

/** What content is made from: called again for every attempt. */
export type ContentSource = () => Content | Promise<Content>;

/** One turn of a task: what was asked, and the verbs to answer it. Its end is one of the last six. */
export interface AgentTask {
  readonly id: string;
  readonly contextId: string;
  /** `task` opens one, `message` and `decision` go on with one. */
  readonly kind: 'task' | 'message' | 'decision';
  /** Names this turn; the same after a restart. */
  readonly turn: string;
  readonly message: Message;
  readonly history: readonly Message[];
  /** The text of the message. */
  readonly text: string;
  readonly decision: TaskDecision | null;
  /** The delivery on the desk that was decided. */
  readonly deliveryId: string | null;
  /** Fires when the caller has cancelled the task: it is over, and nothing more needs to be said. */
  readonly signal: AbortSignal;
  readonly hasEnded: boolean;

  /** Tells how it is going; the task is working. */
  status(said: Said, options?: SayOptions): Promise<void>;
  /** Adds an artifact, replaces the one of that id, or adds to it. Returns its id. */
  artifact(artifact: ArtifactDraft, options?: ArtifactOptions): Promise<string>;
  /** Sends content of any size, streamed, and gives the part that stands for it in an artifact of this task. */
  upload(content: ContentSource, facts?: UploadFacts): Promise<Part>;

  /** Answers with a message alone: the caller gets no task, if nothing else was said and none was shown. */
  reply(said: Said): Promise<void>;
  complete(said?: Said): Promise<void>;
  fail(said?: Said): Promise<void>;
  reject(said?: Said): Promise<void>;
  /** Puts the task before a person, and before the caller; what they say comes as a new turn. */
  askForInput(said?: Said): Promise<void>;
  askForAuth(said?: Said): Promise<void>;
}

export interface TaskParts {
  readonly frame: WorkFrame;
  readonly contextId: string;
  readonly signal: AbortSignal;
  readonly say: (frame: AgentFrame, isLast: boolean) => Promise<void>;
  readonly upload: (taskId: string, content: ContentSource, signal: AbortSignal) => Promise<string>;
  readonly newId: () => string;
}

/** The hub accepts 1 MiB. */
const FRAME_MOST = 1_000_000;
/** A character takes at most six bytes in JSON, so a shorter text fits without counting. */
const SURELY_FITS = FRAME_MOST / 6 - 2_000;

interface Turn {
  say(said: AgentFrame, isLast?: boolean): Promise<void>;
  readonly ended: Promise<void>;
  readonly hasEnded: boolean;
}

/** What is said in one turn. It ends with its last frame, or when the task is cancelled. */
function createTurn({ frame, signal, say }: TaskParts): Turn {
  let hasEnded = false;
  let markEnded: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    markEnded = resolve;
  });
  signal.addEventListener('abort', () => markEnded(), { once: true });
  return {
    ended,
    get hasEnded() {
      return hasEnded || signal.aborted;
    },
    async say(said, isLast = false) {
      if (hasEnded) throw new LanternError('wrong_usage', `Task ${frame.taskId} was already answered.`);
      if (signal.aborted) return;
      assertFits(said);
      if (isLast) hasEnded = true;
      try {
        await say(said, isLast);
      } catch (error) {
        // What could not be stored was not said: otherwise the turn would end without its answer.
        if (isLast) hasEnded = false;
        throw error;
      }
      if (isLast) markEnded();
    },
  };
}

export function createTask(parts: TaskParts): AgentTask & { readonly ended: Promise<void> } {
  const { frame, signal } = parts;
  const task = { taskId: frame.taskId };
  const turn = createTurn(parts);
  const { say } = turn;

  const idFor = (key: string | undefined) => `${frame.turn}.${key ?? parts.newId()}`;

  const end = (type: Ending) => async (said?: Said) => {
    const id = idFor('end');
    const message = said === undefined ? {} : { message: toMessage(id, said) };
    await say({ id, type, ...task, ...message }, true);
  };

  return {
    id: frame.taskId,
    contextId: parts.contextId,
    kind: frame.type,
    turn: frame.turn,
    message: frame.message,
    history: frame.history,
    text: textIn(frame.message),
    decision: frame.decision ?? null,
    deliveryId: frame.deliveryId ?? null,
    signal,
    ended: turn.ended,
    get hasEnded() {
      return turn.hasEnded;
    },
    async status(said, options = {}) {
      const id = idFor(options.key);
      await say({ id, type: 'status', ...task, message: toMessage(id, said) });
    },
    async artifact({ artifactId = parts.newId(), ...draft }, { key, append, lastChunk } = {}) {
      const how = {
        ...(append === undefined ? {} : { append }),
        ...(lastChunk === undefined ? {} : { lastChunk }),
      };
      await say({ id: idFor(key), type: 'artifact', ...task, artifact: { artifactId, ...draft }, ...how });
      return artifactId;
    },
    async upload(content, facts = {}) {
      const url = await parts.upload(frame.taskId, content, signal);
      return { url, ...definedOnly(facts) };
    },
    async reply(said) {
      const id = idFor('end');
      await say({ id, type: 'message', ...task, message: toMessage(id, said) }, true);
    },
    complete: end('completed'),
    fail: end('failed'),
    reject: end('rejected'),
    askForInput: end('input_required'),
    askForAuth: end('auth_required'),
  };
}

export function toMessage(messageId: string, said: Said): Message {
  const { parts, ...more } = typeof said === 'string' ? { parts: [{ text: said }] } : said;
  return { messageId, role: 'ROLE_AGENT', parts: [...parts], ...more };
}

function definedOnly(facts: UploadFacts): Partial<Record<keyof UploadFacts, string>> {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}

function assertFits(frame: AgentFrame): void {
  const rough = partsOf(frame).reduce((sum, part) => sum + roughly(part), 0);
  if (rough <= SURELY_FITS) return;
  const size = new TextEncoder().encode(JSON.stringify(frame)).length;
  if (size <= FRAME_MOST) return;
  const message = `This takes ${size} bytes, and at most ${FRAME_MOST} go at once: send it in chunks (append: true), or upload it.`;
  throw new LanternError('wrong_usage', message);
}

function partsOf(frame: AgentFrame): readonly Part[] {
  if (frame.type === 'artifact') return frame.artifact.parts;
  return frame.type === 'accepted' ? [] : (frame.message?.parts ?? []);
}

function roughly({ text, raw, data }: Part): number {
  const most = data === undefined ? '' : (JSON.stringify(data) ?? '');
  return (text ?? raw ?? most).length;
}
