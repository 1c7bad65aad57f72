import { isJsonObject, type Json, type JsonObject } from '../../../core/canonical.ts';
import type { Envelope } from '../../../core/events/event.ts';
import { isReserved, mayOmitId, type Producer } from '../../../core/events/producer.ts';
import { Fault } from '../../../core/faults.ts';
import { isLongerThan } from '../../../core/text.ts';
import { type Micros, toIso } from '../../../core/time.ts';
import { invalid } from '../../../http/reading/fields.ts';
import { parseStrict } from '../../../http/reading/strict-json.ts';
import type { Sent } from '../request.ts';
import { checkEvent } from '../schema.ts';
import { CLOUDEVENTS, envelopeTextOf, fromCloudEvent } from './cloudevents.ts';

/** A body with its headers, and the id of the message it came in. */
export type Carried = Pick<Sent, 'headers' | 'body'> & { messageId?: string };

/** The envelope in a body, and the bytes to store. */
export function toEnvelope(
  { headers, body, messageId }: Carried,
  producer: Producer,
  now: Micros,
): { envelope: Envelope; kept: Buffer } {
  const parsed = parseStrict(body);
  if (!parsed.ok) throw new Fault('malformed_body', parsed.message);
  const contentType = (headers['content-type'] ?? '').toLowerCase();
  if (contentType.startsWith(CLOUDEVENTS)) {
    const mapped = fromCloudEvent(parsed.value as Json, { now: toIso(now), messageId });
    const envelope = ownOf(mapped, producer, body);
    return {
      envelope,
      kept: Buffer.from(envelopeTextOf(body.toString(), parsed.value as JsonObject, mapped)),
    };
  }
  assertStructured(parsed.value, contentType, headers);
  return { envelope: ownOf(parsed.value, producer, body), kept: body };
}

/**
 * Refuses the other modes of CloudEvents: headers are not covered by the signature, and a batch would need several
 * answers (K26).
 */
function assertStructured(value: unknown, contentType: string, headers: Sent['headers']): void {
  const isBatch = contentType.startsWith('application/cloudevents-batch+json');
  const isBinary =
    headers['ce-specversion'] !== undefined && !(isJsonObject(value as Json) && 'spec' in Object(value));
  if (!isBatch && !isBinary) return;
  throw new Fault('malformed_body', `Send CloudEvents one by one, whole in the body, as ${CLOUDEVENTS}.`);
}

function ownOf(value: unknown, producer: Producer, body: Buffer): Envelope {
  const envelope = checked(value, producer);
  assertKeepable(envelope, body);
  assertOwnProducer(envelope, producer);
  return envelope;
}

function checked(value: unknown, producer: Producer): Envelope {
  const outcome = checkEvent(value, mayOmitId(producer));
  if (outcome.ok) return outcome.value;
  const { path, message, unknownTopLevel } = outcome.flaw;
  if (unknownTopLevel)
    throw new Fault('not_knowledge', 'AKEP events carry knowledge, not commands.', { field: path });
  throw new Fault('invalid_field', `The envelope is not valid: ${path} ${message}.`, { field: path });
}

/** The longest value that fits our index, in any script. */
const LONGEST_TASK_ID = 512;
const NULL_ESCAPED = Buffer.from('\\u0000');

/** Refuses what the schema allows but no database can look up. */
function assertKeepable(envelope: Envelope, body: Buffer): void {
  if (isLongerThan(String(envelope.subject.task_id ?? ''), LONGEST_TASK_ID)) {
    const message = `must NOT have more than ${LONGEST_TASK_ID} characters`;
    throw invalid('/subject/task_id', `The envelope is not valid: /subject/task_id ${message}.`);
  }
  const holder = body.includes(NULL_ESCAPED) ? findNull(envelope) : undefined;
  if (holder === undefined) return;
  // SQLite would end a text there, and PostgreSQL refuses it.
  throw invalid(holder, `The envelope is not valid: ${holder} must not hold the control character U+0000.`);
}

function findNull({ source, subject, routing, knowledge }: Envelope): string | undefined {
  const named = { '/source': source, '/subject': subject, '/routing': routing };
  const parts = { ...named, '/knowledge/summary': [knowledge.summary] };
  const isBroken = (value: unknown) => typeof value === 'string' && value.includes('\0');
  return Object.entries(parts).find(([, part]) => Object.values(part).some(isBroken))?.[0];
}

/**
 * The producer is that of the signing key (K5); even a key that may name any producer may not name us or an agent
 * (K30).
 */
function assertOwnProducer({ source }: Envelope, { id, anyId }: Producer): void {
  const named = source.producer_id;
  if (named === undefined || named === id || (anyId && !isReserved(named))) return;
  throw new Fault('invalid_field', 'source.producer_id is not the producer that this key belongs to.', {
    field: '/source/producer_id',
  });
}
