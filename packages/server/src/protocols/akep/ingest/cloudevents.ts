import { isJsonObject, type Json, type JsonObject } from '../../../core/canonical.ts';
import { ExactJson, exactText } from '../../../core/exact-json.ts';
import { Fault } from '../../../core/faults.ts';
import { memberText, memberTexts } from '../../../core/json-text.ts';

/** CloudEvents 1.0, structured mode, mapped both ways without loss (K26). */
export const CLOUDEVENTS = 'application/cloudevents+json';

/** Attributes that do not fit an envelope are stored under this name, and restored from it. */
const KEPT = 'io.cloudevents';

/** What is known about an event besides its body. */
export type Around = { now: string; messageId?: string | undefined };

/** An envelope of ours inside a CloudEvent is taken as it is; anything else is mapped. Every attribute is kept. */
export function fromCloudEvent(value: Json, { now, messageId }: Around): JsonObject {
  if (!isJsonObject(value) || value.specversion !== '1.0') throw wrong('specversion must be "1.0".');
  const { data, ...attributes } = value;
  const { id, type, source } = value;
  if (!isText(id) || !isText(type) || !isText(source)) throw wrong('id, type and source are required.');
  assertAttributes(value);
  if (isEnvelope(data)) return unwrap(data, attributes);
  return {
    spec: 'akep.v1',
    // An id that is no valid event id stays an attribute; the message's own id, which is signed too, takes its place.
    event_id: EVENT_ID.test(id) ? id : (messageId ?? id),
    event_type: toEventType(type),
    occurred_at: typeof value.time === 'string' ? value.time : now,
    source: toSource(value, source),
    subject: toSubject(value, id),
    knowledge: toKnowledge(value, type),
    routing: { resume_policy: typeof value.resumepolicy === 'string' ? value.resumepolicy : 'append_only' },
    extensions: { [KEPT]: { attributes } },
  };
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== '';
}

/** Readers may ask for it as a CloudEvent again, so it must be valid as one: their libraries refuse anything else. */
function assertAttributes({ data, ...attributes }: JsonObject): void {
  const binary = attributes.data_base64 ?? undefined;
  if (binary !== undefined && data !== undefined) throw wrong('it has data or data_base64, not both.');
  if (binary !== undefined && !(typeof binary === 'string' && BASE64.test(binary)))
    throw wrong('data_base64 must be base64.');
  const odd = Object.entries(attributes).find(([, value]) => typeof value === 'object' && value !== null);
  if (odd !== undefined) throw wrong(`${odd[0]} must be a text, a number, true or false.`);
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const EVENT_ID = /^[A-Za-z0-9_:-]{8,128}$/;

function isEnvelope(data: Json | undefined): data is JsonObject {
  return isJsonObject(data) && typeof data.spec === 'string' && data.spec.startsWith('akep.');
}

/** The same as text: data keeps its digits, which a parsed number may lose. */
export function envelopeTextOf(text: string, value: JsonObject, envelope: JsonObject): string {
  const data = memberText(text, 'data');
  if (data === null) return JSON.stringify(envelope);
  if (value.data === envelope) return data;
  if (isEnvelope(value.data)) return exactText({ ...members(data), ...keptBeside(envelope, data) });
  const knowledge = { ...(envelope.knowledge as JsonObject), content: new ExactJson(data).json };
  return exactText({ ...envelope, knowledge });
}

function members(text: string): Record<string, ExactJson> {
  return Object.fromEntries([...memberTexts(text)].map(([name, value]) => [name, new ExactJson(value)]));
}

/** The extensions of a wrapped envelope, with ours among them. */
function keptBeside({ extensions }: JsonObject, data: string) {
  const ours = (extensions as JsonObject)[KEPT] as JsonObject;
  const text = memberText(data, 'extensions');
  if (text === null) return { extensions: { [KEPT]: ours } };
  return { extensions: { ...members(text), [KEPT]: { ...ours, extensions: new ExactJson(text) } } };
}

/** Attributes that we would generate ourselves in the same words need not be stored. */
function unwrap(envelope: JsonObject, attributes: JsonObject): JsonObject {
  const { data: _, ...ours } = toCloudEvent(envelope);
  const names = new Set([...Object.keys(ours), ...Object.keys(attributes)]);
  if ([...names].every((name) => ours[name] === attributes[name])) return envelope;
  const { extensions } = envelope;
  const kept = { attributes, wraps: true, ...(extensions === undefined ? {} : { extensions }) };
  return { ...envelope, extensions: { ...(isJsonObject(extensions) ? extensions : {}), [KEPT]: kept } };
}

/** Our event types allow fewer characters; the original type is stored as an attribute. */
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

/** The text of an envelope as the text of a CloudEvent. */
export function cloudTextOf(text: string): string {
  const envelope = JSON.parse(text) as JsonObject;
  const event = toCloudEvent(envelope);
  if (event.data === undefined) return JSON.stringify(event);
  return exactText({ ...event, data: exactData(text, envelope, event.data) });
}

function exactData(text: string, envelope: JsonObject, data: Json): ExactJson | Record<string, ExactJson> {
  if (data === envelope) return new ExactJson(text);
  const kept = isJsonObject(envelope.extensions) ? envelope.extensions[KEPT] : undefined;
  if (!isJsonObject(kept) || kept.wraps !== true)
    return ExactJson.member(memberText(text, 'knowledge') ?? '', 'content');
  const { extensions, ...rest } = members(text);
  if (kept.extensions === undefined) return rest;
  const ours = memberText(extensions?.text ?? '', KEPT) ?? '';
  return { ...rest, extensions: ExactJson.member(ours, 'extensions') };
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
