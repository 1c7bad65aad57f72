import { isJsonObject, type Json, type JsonObject } from '../../core/canonical.ts';
import { Fault } from '../../core/faults.ts';

/** CloudEvents 1.0, structured mode, mapped both ways without loss (K26). */
export const CLOUDEVENTS = 'application/cloudevents+json';

/** What does not fit an envelope travels here, and comes back out of here. */
const KEPT = 'io.cloudevents';

/** One of ours inside a CloudEvent is taken as it is; anything else is mapped. Every attribute is kept. */
export function fromCloudEvent(value: Json, now: string): JsonObject {
  if (!isJsonObject(value) || value.specversion !== '1.0') throw wrong('specversion must be "1.0".');
  const { data, ...attributes } = value;
  if (isJsonObject(data) && typeof data.spec === 'string' && data.spec.startsWith('akep.'))
    return unwrap(data, attributes);
  const { id, type, source } = value;
  if (typeof id !== 'string' || typeof type !== 'string' || typeof source !== 'string')
    throw wrong('id, type and source are required.');
  return {
    spec: 'akep.v1',
    event_id: id,
    event_type: toEventType(type),
    occurred_at: typeof value.time === 'string' ? value.time : now,
    source: toSource(value, source),
    subject: toSubject(value, id),
    knowledge: toKnowledge(value, type),
    routing: { resume_policy: typeof value.resumepolicy === 'string' ? value.resumepolicy : 'append_only' },
    extensions: { [KEPT]: { attributes } },
  };
}

/** An envelope that we would wrap ourselves in just these words needs no memory of them. */
function unwrap(envelope: JsonObject, attributes: JsonObject): JsonObject {
  const { data: _, ...ours } = toCloudEvent(envelope);
  const names = new Set([...Object.keys(ours), ...Object.keys(attributes)]);
  if ([...names].every((name) => ours[name] === attributes[name])) return envelope;
  const { extensions } = envelope;
  const kept = { attributes, wraps: true, ...(extensions === undefined ? {} : { extensions }) };
  return { ...envelope, extensions: { ...(isJsonObject(extensions) ? extensions : {}), [KEPT]: kept } };
}

/** Types are spelled more narrowly here; the one that came is kept beside. */
function toEventType(type: string): string {
  const trim = (text: string) => text.replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');
  const plain = trim(
    type
      .toLowerCase()
      .replace(/[^a-z0-9_.-]+/g, '-')
      .slice(0, 128),
  );
  return plain.length < 3 ? `cloudevent.${plain || 'unnamed'}` : plain;
}

function toSource({ producerid }: JsonObject, source: string): JsonObject {
  const name = [...source].slice(0, 80).join('') || 'unnamed';
  return { ...(typeof producerid === 'string' ? { producer_id: producerid } : {}), name, type: 'webhook' };
}

function toSubject(value: JsonObject, id: string): JsonObject {
  const named = {
    task_id: value.taskid,
    thread_id: value.threadid,
    agent_id: value.agentid,
    artifact_id: value.subject,
  };
  const given = Object.entries(named).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return given.length > 0 ? Object.fromEntries(given) : { artifact_id: id };
}

function toKnowledge({ data, datacontenttype }: JsonObject, type: string): JsonObject {
  const named = typeof datacontenttype === 'string' && /^.{3,128}$/su.test(datacontenttype);
  const summary = isJsonObject(data) && typeof data.summary === 'string' ? data.summary : '';
  return {
    kind: 'message',
    content_type: named ? datacontenttype : 'application/json',
    summary: /^.{1,4000}$/su.test(summary) ? summary : [...type].slice(0, 4000).join('') || 'unnamed',
    ...(data === undefined ? {} : { content: data }),
  };
}

function wrong(message: string): Fault {
  return new Fault('malformed_body', `This is not a CloudEvent 1.0: ${message}`);
}

/** An envelope on its way out. What came in as a CloudEvent leaves as the same one. */
export function toCloudEvent(envelope: JsonObject): JsonObject {
  const kept = isJsonObject(envelope.extensions) ? envelope.extensions[KEPT] : undefined;
  if (isJsonObject(kept) && isJsonObject(kept.attributes)) return asItCame(envelope, kept, kept.attributes);
  const { source, subject } = envelope;
  const producer = isJsonObject(source) ? source.producer_id : null;
  const task = isJsonObject(subject) ? subject.task_id : null;
  return {
    specversion: '1.0',
    id: envelope.event_id ?? null,
    source: `/akep/${typeof producer === 'string' ? producer : 'unknown'}`,
    type: envelope.event_type ?? null,
    time: envelope.occurred_at ?? null,
    ...(typeof task === 'string' ? { subject: task } : {}),
    datacontenttype: 'application/json',
    data: envelope,
  };
}

function asItCame(envelope: JsonObject, kept: JsonObject, attributes: JsonObject): JsonObject {
  if (kept.wraps === true) {
    const { extensions: _, ...rest } = envelope;
    return {
      ...attributes,
      data: kept.extensions === undefined ? rest : { ...rest, extensions: kept.extensions },
    };
  }
  const content = isJsonObject(envelope.knowledge) ? envelope.knowledge.content : undefined;
  return { ...attributes, ...(content === undefined ? {} : { data: content }) };
}
