import { memberStart } from '../../json-text.ts';
import type { EventRecord } from '../event.ts';
import type { StoredEvent } from '../store.ts';

type Stored = Pick<StoredEvent, 'producer' | 'fillProducer' | 'body'>;

const decoder = new TextDecoder();

/** The envelope as it goes out: the stored bytes, with the producer filled in where a test producer left it out (K5). */
export function envelopeText(event: Stored): string {
  return asSent(decoder.decode(event.body()), event);
}

const encoder = new TextEncoder();

/** The same as bytes: most envelopes are never decoded on their way from the store into a page. */
export function envelopeBytes(event: Stored): Uint8Array {
  return event.fillProducer ? encoder.encode(envelopeText(event)) : event.body();
}

export function asSent(text: string, event: Pick<EventRecord, 'fillProducer' | 'producer'>): string {
  return event.fillProducer ? fillProducer(text, event.producer) : text;
}

/**
 * Puts the producer's id into `source` without touching another byte: parsing and writing it anew would change numbers
 * that JavaScript cannot hold. The text is a checked envelope, so `source` is there and an object that is not empty.
 */
function fillProducer(text: string, producer: string): string {
  const source = memberStart(text, 'source');
  if (source < 0) throw new Error('an envelope without a source was kept');
  const inside = text.indexOf('{', source) + 1;
  return `${text.slice(0, inside)}"producer_id":${JSON.stringify(producer)},${text.slice(inside)}`;
}
