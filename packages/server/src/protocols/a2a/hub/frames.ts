import { type Static, Type } from 'typebox';

/**
 * The frames of `GET /a2a/connect` (A13), protocol `lantern.v1`: JSON text, one object each. Every frame but `hello`,
 * `ack`, `error`, `ping` and `pong` has an `id` of its sender's choosing that is never used again, and is answered with
 * `{type:"ack", id}` once it is durable.
 */
export const PROTOCOL = 'lantern.v1';

/** The largest frame an agent may send. Larger content goes to the upload address, or in chunks. */
export const FRAME_MOST = 1024 * 1024;

/** The hub pings this often; a socket that has not answered by the next one is closed. */
export const HEARTBEAT_SECONDS = 15;

/** Close codes of the hub, beside those of the WebSocket protocol itself. */
export const CLOSE = {
  /** The key is no longer valid: do not come back with it. */
  unauthorized: 1008,
  /** A frame was larger than `FRAME_MOST`. */
  tooBig: 1009,
  /** The address asks for something impossible: the reason says what. */
  refused: 4400,
  /** The server is restarting: come back at once. */
  restarting: 1012,
  /** The store is away or full, or the agent has too many connections: come back later. */
  away: 1013,
} as const;

const Id = Type.String({ minLength: 1, maxLength: 128 });
const TaskId = Type.String({ minLength: 1, maxLength: 128 });
const Words = Type.String({ maxLength: 262_144 });

/** One of `text`, `data`, `raw` (base64) or `url`; the older spellings with `kind` or `type` are read as well. */
const Part = Type.Object({}, { additionalProperties: true });
export const PARTS_MOST = 1000;
const Parts = Type.Array(Part, { minItems: 1, maxItems: PARTS_MOST });

const AgentMessage = Type.Object(
  { messageId: Type.Optional(Id), role: Type.Optional(Type.String()), parts: Parts },
  { additionalProperties: true },
);

/** What the agent says in words: a whole message, or just its text. */
const saying = {
  id: Id,
  taskId: TaskId,
  message: Type.Optional(AgentMessage),
  text: Type.Optional(Words),
};

export const SayingFrame = Type.Object({
  type: Type.Union(
    ['status', 'completed', 'failed', 'rejected', 'input_required', 'auth_required'].map((t) =>
      Type.Literal(t),
    ),
  ),
  ...saying,
});

/** The agent has begun: the task is working. */
export const AcceptedFrame = Type.Object({ type: Type.Literal('accepted'), id: Id, taskId: TaskId });

export const ArtifactFrame = Type.Object({
  type: Type.Literal('artifact'),
  id: Id,
  taskId: TaskId,
  artifact: Type.Object(
    {
      artifactId: Id,
      name: Type.Optional(Type.String({ maxLength: 1024 })),
      description: Type.Optional(Type.String({ maxLength: 65_536 })),
      parts: Parts,
    },
    { additionalProperties: true },
  ),
  append: Type.Optional(Type.Boolean()),
  lastChunk: Type.Optional(Type.Boolean()),
});

/** A direct reply: the caller gets this message and no task. */
export const MessageFrame = Type.Object({
  type: Type.Literal('message'),
  id: Id,
  taskId: TaskId,
  message: AgentMessage,
});

export const AckFrame = Type.Object({ type: Type.Literal('ack'), id: Id });
export const PingFrame = Type.Object({ type: Type.Literal('ping') });

export const AGENT_FRAMES = {
  accepted: AcceptedFrame,
  status: SayingFrame,
  completed: SayingFrame,
  failed: SayingFrame,
  rejected: SayingFrame,
  input_required: SayingFrame,
  auth_required: SayingFrame,
  artifact: ArtifactFrame,
  message: MessageFrame,
  ack: AckFrame,
  ping: PingFrame,
} as const;

export type SayingFrame = Static<typeof SayingFrame>;
export type ArtifactFrame = Static<typeof ArtifactFrame>;
export type MessageFrame = Static<typeof MessageFrame>;

const Message10 = Type.Object(
  { messageId: Type.String(), role: Type.String(), parts: Type.Array(Part) },
  { additionalProperties: true },
);

/** The first frame of a connection. Has no id and wants no acknowledgement. */
export const HelloFrame = Type.Object({
  type: Type.Literal('hello'),
  protocol: Type.Literal(PROTOCOL),
  agent: Type.String({ description: '@handle/name' }),
  connectionId: Type.String(),
  heartbeatSeconds: Type.Number(),
  maxFrameBytes: Type.Number(),
  uploadUrl: Type.String({ description: 'Where large artifact content goes, by POST' }),
});

/** `task` opens a task, `message` continues one. `history` is there when there is any before this message. */
export const TaskFrame = Type.Object({
  type: Type.Union([Type.Literal('task'), Type.Literal('message')]),
  id: Id,
  taskId: TaskId,
  contextId: Type.String(),
  message: Message10,
  history: Type.Optional(Type.Array(Message10)),
});

export const CancelFrame = Type.Object({ type: Type.Literal('cancel'), id: Id, taskId: TaskId });

/** `message` is the decision once more, as the next message of the task (A17): words, and a data part. */
export const DecisionFrame = Type.Object({
  type: Type.Literal('decision'),
  id: Id,
  taskId: TaskId,
  contextId: Type.String(),
  deliveryId: Type.String(),
  decision: Type.Object({
    status: Type.Union([Type.Literal('approved'), Type.Literal('rejected'), Type.Literal('redirected')]),
    feedback: Type.Union([Type.String(), Type.Null()]),
    edited_content: Type.Unknown(),
  }),
  message: Message10,
  history: Type.Optional(Type.Array(Message10)),
});

/** Only with `?events=1`. The acknowledgement stands for `stored` in the inbox. */
export const EventFrame = Type.Object({
  type: Type.Literal('event'),
  id: Id,
  cursor: Type.String(),
  event: Type.Unknown(),
});

/** Only with `?resumes=1`. */
export const ResumeFrame = Type.Object(
  { type: Type.Literal('resume'), id: Id },
  { additionalProperties: true },
);

/** `id` is the frame it is about, or null when that could not be read. Only `unavailable` is worth sending again. */
export const ErrorFrame = Type.Object({
  type: Type.Literal('error'),
  id: Type.Union([Id, Type.Null()]),
  code: Type.Union(
    ['invalid_frame', 'unknown_type', 'not_found', 'task_ended', 'too_large', 'unavailable'].map((c) =>
      Type.Literal(c),
    ),
  ),
  message: Type.String(),
});

export const HUB_FRAMES = {
  hello: HelloFrame,
  task: TaskFrame,
  message: TaskFrame,
  cancel: CancelFrame,
  decision: DecisionFrame,
  event: EventFrame,
  resume: ResumeFrame,
  ack: AckFrame,
  error: ErrorFrame,
} as const;
