import { answerIdentity, bodyIdentity, responseIdentity } from '../../core/deliveries/content/sealed.ts';
import { chunkIdentity } from '../../core/tasks/content/content.ts';
import { frameIdentity } from '../../core/tasks/frames.ts';
import { pushIdentity } from '../../core/tasks/push/push.ts';
import { logIdentity } from '../../core/tasks/task.ts';
import { ownIdentity, segmentIdentity } from '../rows/events/bodies.ts';
import { secretIdentity } from '../rows/events/producers.ts';
import type { Tables } from '../tables.ts';

/** The columns that identities are made of; each row has those it needs. */
export type Named = Record<
  | 'agent_id'
  | 'blob_id'
  | 'delivery_id'
  | 'job_id'
  | 'key_id'
  | 'passkey_id'
  | 'person_id'
  | 'push_id'
  | 'subscription_id'
  | 'task_id',
  string
> &
  Record<'place' | 'pos' | 'segment' | 'seq', number>;

export type SealedColumn = {
  table: keyof Tables;
  column: string;
  /** The primary key after `space_id`, with the type of each column. */
  key: Readonly<Record<string, 'text' | 'number'>>;
  /** Further columns that the identity is made of; those of the task where a row belongs to one. */
  also?: readonly string[];
  ofTask?: true;
  identity(space: string, row: Named): string;
};

/** Every sealed column, and what its records are bound to. A test compares this list with the tables. */
export const SEALED: readonly SealedColumn[] = [
  {
    table: 'deliveries',
    column: 'body',
    key: { seq: 'number' },
    also: ['delivery_id'],
    identity: (space, row) => bodyIdentity({ space, id: row.delivery_id }),
  },
  {
    table: 'deliveries',
    column: 'response',
    key: { seq: 'number' },
    also: ['delivery_id'],
    identity: (space, row) => responseIdentity({ space, id: row.delivery_id }),
  },
  {
    table: 'decisions',
    column: 'answer',
    key: { seq: 'number' },
    identity: (space, { seq }) => answerIdentity({ space, seq }),
  },
  {
    table: 'events',
    column: 'body',
    key: { seq: 'number' },
    identity: (space, { seq }) => ownIdentity(space, seq),
  },
  {
    table: 'bodies',
    column: 'sealed',
    key: { segment: 'number' },
    identity: (space, { segment }) => segmentIdentity(space, segment),
  },
  {
    table: 'jobs',
    column: 'request',
    key: { job_id: 'text' },
    identity: (space, row) => `job:${space}:${row.job_id}`,
  },
  {
    table: 'agents',
    column: 'callback_secrets',
    key: { agent_id: 'text' },
    identity: (space, row) => `callback-secrets:${space}:${row.agent_id}`,
  },
  {
    table: 'producer_keys',
    column: 'secret',
    key: { key_id: 'text' },
    identity: (space, row) => secretIdentity(space, row.key_id),
  },
  {
    table: 'subscriptions',
    column: 'secret',
    key: { subscription_id: 'text' },
    identity: (space, row) => `subscription:${space}:${row.subscription_id}`,
  },
  {
    table: 'preferences',
    column: 'target',
    key: { person_id: 'text' },
    identity: (space, row) => `digest-target:${space}:${row.person_id}`,
  },
  {
    table: 'drafts',
    column: 'draft',
    key: { delivery_id: 'text', person_id: 'text' },
    identity: (space, row) => `draft:${space}:${row.delivery_id}:${row.person_id}`,
  },
  {
    table: 'passkeys',
    column: 'credential',
    key: { passkey_id: 'text' },
    also: ['person_id'],
    identity: (space, row) => `passkey:${space}:${row.passkey_id}:${row.person_id}`,
  },
  {
    table: 'task_log',
    column: 'body',
    key: { task_seq: 'number', pos: 'number' },
    ofTask: true,
    identity: (space, row) => logIdentity({ space, id: row.task_id }, row.pos),
  },
  {
    table: 'pushes',
    column: 'body',
    key: { task_seq: 'number', push_id: 'text' },
    ofTask: true,
    identity: (space, row) => pushIdentity({ space, id: row.task_id }, row.push_id),
  },
  {
    table: 'frames',
    column: 'body',
    key: { agent_id: 'text', place: 'number' },
    identity: (space, row) => frameIdentity(space, row.agent_id, row.place),
  },
  {
    table: 'blob_chunks',
    column: 'body',
    key: { blob_id: 'text', place: 'number' },
    identity: (space, row) => chunkIdentity(space, row.blob_id, row.place),
  },
  {
    table: 'signing_keys',
    column: 'jwk',
    key: { key_id: 'text' },
    identity: (space, row) => `signing:${space}:${row.key_id}`,
  },
];
