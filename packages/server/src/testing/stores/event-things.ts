import type { Entry, EventRecord } from '../../core/events/event.ts';
import type { Producer, ProducerKey, Refusal } from '../../core/events/producer.ts';
import type { Resume, Wait } from '../../core/events/waits/wait.ts';

/** Events and what belongs to them, for tests of the store. `over` changes what a test is about. */
export function aProducer(over: Partial<Producer> = {}): Producer {
  return {
    space: 'sp_1',
    id: 'prod_one',
    name: 'One',
    tier: 'test',
    anyId: false,
    createdAt: 1,
    lastSeenAt: null,
    ...over,
  };
}

export function aProducerKey(over: Partial<ProducerKey> = {}): ProducerKey {
  return {
    space: 'sp_1',
    id: 'key_one',
    producer: 'prod_one',
    algorithm: 'v1',
    createdAt: 1,
    expiresAt: null,
    revokedAt: null,
    ...over,
  };
}

export function aRefusal(over: Partial<Refusal> = {}): Refusal {
  const refusal = { space: 'sp_1', producer: 'prod_one', at: 1, eventId: 'evt_1', status: 422 };
  return { ...refusal, reason: 'Nobody takes it.', ...over };
}

export function anEventRecord(over: Partial<EventRecord> = {}): EventRecord {
  const seq = over.seq ?? 1;
  return {
    space: 'sp_1',
    seq,
    producer: 'prod_one',
    eventId: `evt_${seq}`,
    eventType: 'tool.completed',
    receivedAt: seq,
    bodyHash: 'hash',
    taskId: null,
    causationId: null,
    fillProducer: false,
    outOfOrder: false,
    ...over,
  };
}

/** The place of an event in an inbox. */
export function anEntry(event: EventRecord, over: Partial<Entry> = {}): Entry {
  return {
    space: event.space,
    agent: 'agent-1',
    offset: event.seq,
    eventSeq: event.seq,
    producer: event.producer,
    eventId: event.eventId,
    eventType: event.eventType,
    taskId: event.taskId,
    receivedAt: event.receivedAt,
    keptUntil: 100,
    hasUri: false,
    ack: null,
    ...over,
  };
}

export function aWait(over: Partial<Wait> = {}): Wait {
  return {
    space: 'sp_1',
    id: 'wait_1',
    agent: 'agent-1',
    subject: { task_id: 't', n: 1, yes: true, nothing: null },
    eventTypes: ['tool.completed'],
    interruptId: 'int_1',
    runStateRef: 'runs/1',
    policy: 'resume_if_waiting',
    expiresAt: null,
    createdAt: 1,
    ...over,
  };
}

export function aResume(over: Partial<Resume> = {}): Resume {
  const offset = over.offset ?? 1;
  return {
    space: 'sp_1',
    agent: 'agent-1',
    offset,
    entryOffset: offset,
    id: `res_${offset}`,
    eventId: `evt_${offset}`,
    waitId: 'wait_1',
    runStateRef: 'runs/1',
    reason: 'An open wait matches.',
    outOfOrder: false,
    at: offset,
    ...over,
  };
}
