import type { Tier } from '../agents/key.ts';
import type { Json, JsonObject } from '../canonical.ts';
import type { AgentId, DeliveryId, PersonId, SpaceId } from '../ids.ts';
import type { Micros } from '../time.ts';

export const DELIVERY_TYPES = ['update', 'question', 'output', 'alert'] as const;
export type DeliveryType = (typeof DELIVERY_TYPES)[number];

export const STATUSES = ['pending', 'approved', 'rejected', 'redirected'] as const;
/** The four statuses that agents see. */
export type Status = (typeof STATUSES)[number];
export type Verdict = Exclude<Status, 'pending'>;

/** What the desk tells apart beyond the four statuses; the picture is in docs/states.md. */
export type DeliveryState = 'pending' | 'held' | 'decided' | 'withdrawn' | 'superseded';

/** In the order in which the desk shows them. */
export const SECTIONS = ['needs_you', 'alerts', 'new_agents', 'to_read', 'snoozed', 'earlier'] as const;
export type Section = (typeof SECTIONS)[number];

export type Delivery = {
  space: SpaceId;
  /** Its line in the ledger, and with that its place among all deliveries of the space. */
  seq: number;
  id: DeliveryId;
  agent: AgentId;
  tier: Tier;
  provider: string;
  type: DeliveryType;
  headline: string;
  summary: string;
  contentHash: string;
  createdAt: Micros;
  /** Creation or answer: the stamp a sweep follows, unique and increasing per agent (W19). */
  changedAt: Micros;
  status: Status;
  state: DeliveryState;
  section: Section;
  /** Sort key inside the section, ascending. */
  sectionAt: number;
  timeoutAt: Micros | null;
  taskId: string | null;
  threadId: string | null;
  interruptId: string | null;
  revises: DeliveryId | null;
  revision: number;
  supersededBy: DeliveryId | null;
  dedupeKey: string | null;
  readAt: Micros | null;
  readBy: PersonId | null;
  snoozedUntil: Micros | null;
  effectAt: Micros | null;
  withdrawnAt: Micros | null;
  /** The event that asked for this, when it came in as one (K29). */
  causeEvent: string | null;
  /** How many things its details list side by side; 0 for a text. */
  parts: number;
  /** Whether the agent says that it cannot be undone. */
  irreversible: boolean;
};

/** The fields of a new delivery that nobody has read, snoozed, answered or replaced. */
export const UNTOUCHED = {
  status: 'pending',
  state: 'pending',
  supersededBy: null,
  readAt: null,
  readBy: null,
  snoozedUntil: null,
  effectAt: null,
  withdrawnAt: null,
} satisfies Partial<Delivery>;

/** What an agent delivers, checked and mapped to our names. */
export type Draft = {
  provider: string;
  type: DeliveryType;
  headline: string;
  summary: string;
  timeoutSeconds: number | null;
  callback: string | null;
  taskId: string | null;
  threadId: string | null;
  interruptId: string | null;
  revises: DeliveryId | null;
  dedupeKey: string | null;
};

/** The body of a delivery as it was sent; sealed at rest. */
export type Content = JsonObject;

export function detailsOf(content: Content): Json {
  return content.details ?? null;
}

export function callbackOf(content: Content): string | null {
  const target = content.callback_webhook;
  return typeof target === 'string' ? target : null;
}

// Sorts after every real deadline, and leaves room for microseconds in a safe integer.
const WITHOUT_DEADLINE = 4_000_000_000_000_000;

/** Where an open delivery stands on the desk: due first, then oldest. */
export function openSection(d: {
  type: DeliveryType;
  accepted: boolean;
  timeoutAt: Micros | null;
  createdAt: Micros;
}): { section: Section; sectionAt: number } {
  const sectionAt = d.timeoutAt ?? WITHOUT_DEADLINE + d.createdAt;
  if (!d.accepted) return { section: 'new_agents', sectionAt };
  if (d.type === 'alert') return { section: 'alerts', sectionAt: d.createdAt };
  if (d.type === 'update') return { section: 'to_read', sectionAt: d.createdAt };
  return { section: 'needs_you', sectionAt };
}

/** Negated, because Earlier is shown newest first and the index runs upwards. */
export function earlierSection(at: Micros): { section: Section; sectionAt: number } {
  return { section: 'earlier', sectionAt: -at };
}

export function timedOutAt(d: Pick<Delivery, 'status' | 'timeoutAt'>, now: Micros): Micros | null {
  return d.status === 'pending' && d.timeoutAt !== null && d.timeoutAt <= now ? d.timeoutAt : null;
}
