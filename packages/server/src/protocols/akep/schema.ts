import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { type TSchema, Type } from 'typebox';
import { ACK_STATUSES, type Envelope, RESUME_POLICIES } from '../../core/events/event.ts';
import type { SubscriptionBody as SubscriptionWire } from '../../core/events/subscriptions/subscription.ts';
import { fromIso } from '../../core/time.ts';
import { EVENT_SCHEMA } from './documents/akep-v1.ts';
import { SUBSCRIPTION_SCHEMA } from './documents/akep-v1-subscription.ts';

export const LIMITS = {
  pageDefault: 100,
  pageMost: 1000,
  waitDefault: 30,
  waitMost: 60,
  freshSeconds: 300,
  unnamedKeys: 32,
} as const;

// The schemas are our own and a test validates them: doing it at every start would cost more than the rest of the
// start.
const ajv = new Ajv2020({ allErrors: false, strict: false, meta: false, validateSchema: false });
// Narrower than what we accept elsewhere: RFC 3339 has seconds, a dot before the fraction, and a zone.
const DATE_TIME = /^[-\d]{10}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/;
ajv.addFormat('date-time', (text: string) => DATE_TIME.test(text) && fromIso(text) !== null);
// RFC 3986 as well: a URL is read with spaces, backslashes and letters of any script, which a URI does not have, and
// with brackets that are not around an address.
const URI =
  /^[a-z][a-z\d+.-]*:(?:\/\/(?:[\w.~:!$&'()*+,;=%-]*@)?\[[\da-f:.]+\])?(?:[\w.~:/?#@!$&'()*+,;=-]|%[\da-f]{2})*$/i;
ajv.addFormat('uri', (text: string) => URI.test(text) && URL.canParse(text));

const { $id: _event, $schema: _eventSchema, ...PLAIN_EVENT } = EVENT_SCHEMA;
const { $id: _subscription, $schema: _subscriptionSchema, ...PLAIN_SUBSCRIPTION } = SUBSCRIPTION_SCHEMA;

/** A test producer may leave its id out, as the README's curl does (K5). */
const LENIENT_EVENT = {
  ...PLAIN_EVENT,
  properties: {
    ...PLAIN_EVENT.properties,
    source: { ...PLAIN_EVENT.properties.source, required: ['name', 'type'] },
  },
};

/** `*` takes every type: our addition to the schema (K10). */
const OUR_SUBSCRIPTION = {
  ...PLAIN_SUBSCRIPTION,
  properties: {
    ...PLAIN_SUBSCRIPTION.properties,
    event_types: {
      ...PLAIN_SUBSCRIPTION.properties.event_types,
      items: {
        type: 'string',
        pattern: `^\\*$|${PLAIN_SUBSCRIPTION.properties.event_types.items.pattern}`,
      },
    },
  },
};

export const EVENT_TYPE = new RegExp(PLAIN_EVENT.properties.event_type.pattern);

const validateEvent = whenNeeded<Envelope>(EVENT_SCHEMA);
const validateLenient = whenNeeded<Envelope>(LENIENT_EVENT);
const validateSubscription = whenNeeded<SubscriptionWire>(OUR_SUBSCRIPTION);

/** Compiled with the first value: a start should not wait for what nobody has sent yet. */
function whenNeeded<T>(schema: object): () => ValidateFunction<T> {
  let validate: ValidateFunction<T> | undefined;
  return () => {
    validate ??= ajv.compile<T>(schema);
    return validate;
  };
}

export type Flaw = { path: string; message: string; unknownTopLevel?: true };
export type Checked<T> = { ok: true; value: T } | { ok: false; flaw: Flaw };

function check<T>(validate: ValidateFunction<T>, value: unknown): Checked<T> {
  if (validate(value)) return { ok: true, value };
  const errors = validate.errors ?? [];
  const [first] = errors;
  const extra = first?.keyword === 'additionalProperties' ? String(first.params.additionalProperty) : null;
  return {
    ok: false,
    flaw: {
      path: `${first?.instancePath ?? ''}${extra === null ? '' : `/${extra}`}` || '/',
      message: wordsFor(errors),
    },
  };
}

/** The validator's own words, except where they name the first of several ways to be valid, or none of them. */
function wordsFor(errors: readonly ErrorObject[]): string {
  const [first] = errors;
  if (first?.keyword === 'additionalProperties') return 'is unknown';
  if (first?.keyword === 'enum') return `must be one of ${listed(first.params.allowedValues)}`;
  const last = errors.at(-1);
  if (last?.keyword === 'anyOf')
    return `must have at least one of ${listed(errors.flatMap(({ params }) => params.missingProperty ?? []))}`;
  if (last?.keyword === 'propertyNames')
    return `has the name ${JSON.stringify(last.params.propertyName)}, which ${first?.message}`;
  return first?.message ?? 'is not valid';
}

const listed = (names: readonly unknown[]) => names.join(', ');

export function checkEvent(value: unknown, mayOmitProducer: boolean): Checked<Envelope> {
  const checked = check(mayOmitProducer ? validateLenient() : validateEvent(), value);
  const stranger = checked.ok ? undefined : unknownMember(value);
  if (stranger === undefined) return checked;
  return { ok: false, flaw: { path: `/${stranger}`, message: 'is unknown', unknownTopLevel: true } };
}

/** A command is refused as a command, whatever else is wrong (K4). */
function unknownMember(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.keys(value).find((name) => !Object.hasOwn(PLAIN_EVENT.properties, name));
}

export function checkSubscription(value: unknown): Checked<SubscriptionWire> {
  return check(validateSubscription(), value);
}

const Time = Type.String({ format: 'date-time' });
const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const Status = Type.Enum([...ACK_STATUSES]);
const Policy = Type.Enum([...RESUME_POLICIES]);
const Subject = Type.Record(
  Type.String(),
  Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]),
);

/** Query parameters that several addresses share, for /openapi.json. */
export const QUERY = {
  cursor: { name: 'cursor', in: 'query', schema: Type.String() },
  limit: { name: 'limit', in: 'query', schema: Type.Integer({ minimum: 1, maximum: LIMITS.pageMost }) },
  last: { name: 'last', in: 'query', schema: Type.Integer({ minimum: 1, maximum: LIMITS.pageMost }) },
  timeout: { name: 'timeout_seconds', in: 'query', schema: Type.Integer({ minimum: 0 }) },
  producer: { name: 'producer_id', in: 'query', schema: Type.String() },
} as const;

const header = (name: string, required: boolean) => ({ name, in: 'header', required, schema: Type.String() });

/** What a signed request carries besides its body. */
export const SIGNATURE_PARAMETERS = [
  header('webhook-id', true),
  header('webhook-timestamp', true),
  header('webhook-signature', true),
  header('webhook-signature-key-id', false),
];

export const EventBody = Type.Unsafe<Envelope>(PLAIN_EVENT);
export const LenientEventBody = Type.Unsafe<Envelope>(LENIENT_EVENT);
export const SubscriptionBody = Type.Unsafe<SubscriptionWire>(OUR_SUBSCRIPTION);

const NotEmpty = Type.String({ minLength: 1 });

/** CloudEvents 1.0, structured (K26): the attributes that we read, and any others. */
export const CloudEventBody = Type.Object(
  {
    specversion: Type.Literal('1.0'),
    id: NotEmpty,
    source: NotEmpty,
    type: NotEmpty,
    time: Type.Optional(Time),
    subject: Type.Optional(Type.String()),
    data: Type.Optional(Type.Unknown()),
    data_base64: Type.Optional(Type.String()),
  },
  { additionalProperties: true },
);

/** As it is stored, or as the CloudEvent that `Accept` asked for. */
const EventOut = Type.Union([EventBody, CloudEventBody]);

export const AcceptedBody = Type.Object({ accepted: Type.Literal(true), duplicate: Type.Boolean() });

export const PageBody = Type.Object({
  events: Type.Array(EventOut),
  next_cursor: Type.String(),
  has_more: Type.Boolean(),
});

const AckView = Type.Object({ status: Status, processed_at: Time, reason: Nullable(Type.String()) });

export const EventView = Type.Object({ event: EventOut, cursor: Type.String(), ack: Nullable(AckView) });

export const AckBody = Type.Object({
  status: Type.Optional(Status),
  processed_at: Type.Optional(Nullable(Time)),
  reason: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
});

export const AckedBody = Type.Object({
  event_id: Type.String(),
  status: Status,
  processed_at: Time,
  reason: Nullable(Type.String()),
});

export const TaskBody = Type.Object({
  task_id: Type.String(),
  status: Type.String(),
  updated_at: Time,
  events: Type.Array(Type.String()),
  artifacts: Type.Array(
    Type.Object({
      event_id: Type.String(),
      uri: Type.String(),
      content_type: Type.String(),
      summary: Type.String(),
    }),
  ),
});

/** A subscription as it is shown: as it was sent, with the members that we add. */
const { additionalProperties: _closed, ...OPEN_SUBSCRIPTION } = OUR_SUBSCRIPTION;
export const SubscriptionView = Type.Unsafe<SubscriptionWire>({
  ...OPEN_SUBSCRIPTION,
  required: [...OPEN_SUBSCRIPTION.required, 'subscription_id', 'created_at'],
  properties: {
    ...OPEN_SUBSCRIPTION.properties,
    subscription_id: Type.String(),
    created_at: Time,
    default: Type.Literal(true),
    secret: Type.String({ description: 'Signs what is forwarded; shown only when it is made.' }),
  },
});
export const SubscriptionsView = Type.Object({ subscriptions: Type.Array(SubscriptionView) });

export const WaitBody = Type.Object({
  subject: Type.Optional(Subject),
  event_types: Type.Optional(
    Nullable(Type.Array(Type.String({ pattern: EVENT_TYPE.source }), { minItems: 1 })),
  ),
  interrupt_id: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 256 }))),
  run_state_ref: Type.String({ minLength: 1, maxLength: 2048 }),
  policy: Type.Optional(Nullable(Policy)),
  expires_at: Type.Optional(Nullable(Time)),
});

export const WaitView = Type.Object({
  wait_id: Type.String(),
  subject: Subject,
  event_types: Nullable(Type.Array(Type.String())),
  interrupt_id: Nullable(Type.String()),
  run_state_ref: Type.String(),
  policy: Nullable(Policy),
  expires_at: Nullable(Time),
  created_at: Time,
});
export const WaitsView = Type.Object({ waits: Type.Array(WaitView) });

export const ResumeView = Type.Object({
  resume_id: Type.String(),
  event_id: Type.String(),
  wait_id: Nullable(Type.String()),
  run_state_ref: Nullable(Type.String()),
  decision: Type.Literal('resume'),
  reason: Type.String(),
  out_of_order: Type.Boolean(),
});
export const ResumesBody = Type.Object({
  resumes: Type.Array(ResumeView),
  next_cursor: Type.String(),
  has_more: Type.Boolean(),
});

export const PolicyBody = Type.Object({ max_resume_policy: Policy, show_reviews: Type.Boolean() });
export const PolicyChange = Type.Partial(PolicyBody);

export const DiscoveryBody = Type.Object({
  spec: Type.Literal('akep.v1'),
  profiles: Type.Array(Type.String()),
  endpoints: Type.Record(Type.String(), Type.String()),
});
