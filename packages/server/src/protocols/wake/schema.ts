import { type TSchema, Type } from 'typebox';
import { DELIVERY_TYPES, STATUSES } from '../../core/deliveries/delivery.ts';

export const VERSIONS = ['v1'];

/** The wire of WAKE v1.0, as /openapi.json publishes it. Limits are in code points, as JSON Schema counts them. */
export const LIMITS = {
  agentId: 128,
  provider: 128,
  headline: 120,
  summary: 280,
  reference: 128,
  reason: 500,
  path: 1024,
  timeoutLeast: 60,
  timeoutMost: 604_800,
  sweepMost: 200,
  sweepDefault: 50,
  waitMost: 60,
  idempotencyKey: 255,
} as const;

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const Line = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, description });
const Reference = (description: string) => Type.Optional(Nullable(Line(LIMITS.reference, description)));
const Content = Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.String(), Type.Null()]);

export const DeliverBody = Type.Object({
  agent_id: Line(LIMITS.agentId, 'The agent the key belongs to.'),
  provider: Line(LIMITS.provider, 'The AI provider behind the agent; for display.'),
  type: Type.Enum([...DELIVERY_TYPES]),
  headline: Line(LIMITS.headline, 'One plain line. Lead with what has been accomplished.'),
  summary: Line(LIMITS.summary, 'One sentence in plain language.'),
  details: Type.Optional(Content),
  callback_webhook: Type.Optional(
    Nullable(Type.String({ format: 'uri', description: "Must be on the agent's allowlist." })),
  ),
  timeout_seconds: Type.Optional(
    Nullable(Type.Integer({ minimum: LIMITS.timeoutLeast, maximum: LIMITS.timeoutMost })),
  ),
  allow_secrets: Type.Optional(
    Nullable(
      Type.Array(
        Type.Object({
          path: Line(LIMITS.path, 'A JSON Pointer.'),
          reason: Line(LIMITS.reason, 'Shown to the person.'),
        }),
      ),
    ),
  ),
  task_id: Reference('Groups the desk, and is carried into the event of the answer.'),
  thread_id: Reference('Groups the desk.'),
  interrupt_id: Reference('Carried into the event of the answer.'),
  revises: Type.Optional(
    Nullable(Type.String({ description: 'The delivery_id of an earlier delivery of this agent.' })),
  ),
  dedupe_key: Reference('At most one pending delivery per agent and key.'),
});

export const DeliverReply = Type.Object({
  delivery_id: Type.String({ format: 'uuid' }),
  status: Type.Literal('received'),
  created_at: Type.String({ format: 'date-time' }),
  deduplicated: Type.Optional(Type.Literal(true)),
});

export const ResponseBody = Type.Object({
  delivery_id: Type.String({ format: 'uuid' }),
  status: Type.Enum([...STATUSES]),
  feedback: Nullable(Type.String()),
  edited_content: Content,
  responded_at: Nullable(Type.String({ format: 'date-time' })),
  timed_out_at: Type.Optional(Type.String({ format: 'date-time' })),
  withdrawn_at: Type.Optional(Type.String({ format: 'date-time' })),
});

export const SweepBody = Type.Object({
  deliveries: Type.Array(ResponseBody),
  total: Type.Integer(),
  has_more: Type.Boolean(),
  next_since: Nullable(Type.String()),
});

export const WithdrawBody = Type.Object({
  reason: Line(LIMITS.reason, 'Why nobody needs to decide this any more.'),
});

const parameter = (place: 'query' | 'header', name: string, schema: TSchema) => ({ name, in: place, schema });

/** What a request may carry beside its body. */
export const PARAMETERS = {
  idempotencyKey: parameter(
    'header',
    'Idempotency-Key',
    Type.String({ minLength: 1, maxLength: LIMITS.idempotencyKey }),
  ),
  wait: parameter(
    'query',
    'wait',
    Type.Integer({ minimum: 0, description: `Seconds; more than ${LIMITS.waitMost} is taken as that.` }),
  ),
  prefer: parameter('header', 'Prefer', Type.String({ description: 'wait=N, as the query parameter.' })),
} as const;

export const SWEEP_PARAMETERS = [
  parameter('query', 'agent_id', Type.String({ maxLength: LIMITS.agentId })),
  parameter(
    'query',
    'status',
    Type.String({ description: `Any of ${STATUSES.join(', ')}, with commas between.` }),
  ),
  parameter('query', 'since', Type.String({ description: 'ISO 8601; next_since as it came.' })),
  parameter(
    'query',
    'limit',
    Type.Integer({ minimum: 1, maximum: LIMITS.sweepMost, default: LIMITS.sweepDefault }),
  ),
];

export const CardBody = Type.Object({
  name: Type.String(),
  versions: Type.Array(Type.String()),
  endpoint: Type.String({ format: 'uri' }),
  limits: Type.Record(Type.String(), Type.Unknown()),
  extensions: Type.Array(Type.String()),
  agent_id: Type.Optional(Type.String()),
  tier: Type.Optional(Type.Enum(['test', 'live'])),
});
