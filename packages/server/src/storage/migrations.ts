import { TASK_TABLES } from './migrations-tasks.ts';

/**
 * One list for both databases. `{bytes}` is what each calls its byte column, `{random}` an expression for 32 random
 * bytes in hexadecimal. A released step is never edited:
 * the next change is a new step, and a store that is ahead of this list is refused.
 */
export const MIGRATIONS: readonly (readonly string[])[] = [
  [
    `create table heads (space_id text not null, name text not null, n bigint not null, at bigint not null,
       text text not null, seal text not null, primary key (space_id, name))`,
    `create table spaces (space_id text not null primary key, handle text not null unique, created_at bigint not null)`,
    `create table people (space_id text not null, person_id text not null, email text not null, name text not null,
       role text not null, password_hash text, created_at bigint not null, primary key (space_id, person_id))`,
    `create unique index people_by_email on people (email, space_id)`,
    `create table sessions (space_id text not null, digest text not null, person_id text not null,
       created_at bigint not null, expires_at bigint not null, primary key (space_id, digest))`,
    `create unique index sessions_by_digest on sessions (digest)`,
    `create index sessions_expired on sessions (space_id, expires_at)`,
    `create index sessions_by_person on sessions (space_id, person_id)`,
    `create table tokens (space_id text not null, token_id text not null, person_id text not null, name text not null,
       digest text not null, last_four text not null, created_at bigint not null, revoked_at bigint,
       primary key (space_id, token_id))`,
    `create unique index tokens_by_digest on tokens (digest)`,
    `create table agents (space_id text not null, agent_id text not null, created_at bigint not null,
       accepted_at bigint, callbacks text not null, callback_secrets {bytes} not null, last_seen_at bigint,
       primary key (space_id, agent_id))`,
    `create table keys (space_id text not null, key_id text not null, agent_id text not null, tier text not null,
       last_four text not null, digest text not null, created_at bigint not null, expires_at bigint,
       revoked_at bigint, primary key (space_id, key_id))`,
    `create unique index keys_by_digest on keys (digest)`,
    `create index keys_by_agent on keys (space_id, agent_id)`,
    // Insertion order first: a random id as the primary key costs two to three times as much at scale.
    `create table deliveries (space_id text not null, seq bigint not null, delivery_id text not null,
       agent_id text not null, tier text not null, provider text not null, type text not null, headline text not null,
       summary text not null, content_sha256 text not null, created_at bigint not null, changed_at bigint not null,
       status text not null, state text not null, section text not null, section_at bigint not null,
       timeout_at bigint, task_id text, thread_id text, interrupt_id text, revises text, revision bigint not null,
       superseded_by text, dedupe_key text, read_at bigint, read_by text, snoozed_until bigint, effect_at bigint,
       withdrawn_at bigint, body {bytes} not null, response {bytes}, primary key (space_id, seq))`,
    `create unique index deliveries_by_id on deliveries (space_id, delivery_id)`,
    `create index deliveries_swept on deliveries (space_id, agent_id, status, changed_at)`,
    `create index deliveries_listed on deliveries (space_id, section, section_at, seq)`,
    `create index deliveries_listed_by_agent on deliveries (space_id, agent_id, section, section_at, seq)`,
    `create index deliveries_deduplicated on deliveries (space_id, agent_id, dedupe_key) where dedupe_key is not null`,
    `create index deliveries_held on deliveries (effect_at) where effect_at is not null`,
    `create index deliveries_snoozed on deliveries (snoozed_until) where snoozed_until is not null`,
    `create table decisions (space_id text not null, seq bigint not null, delivery_id text not null,
       agent_id text not null, verdict text not null, person_id text not null, decided_at bigint not null,
       effect_at bigint not null, state text not null, content_sha256 text not null, answer {bytes} not null,
       primary key (space_id, seq))`,
    `create index decisions_by_delivery on decisions (space_id, delivery_id, seq)`,
    `create index decisions_by_agent on decisions (space_id, agent_id, seq)`,
    `create table idempotency (space_id text not null, agent_id text not null, idempotency_key text not null,
       body_sha256 text not null, delivery_id text not null, created_at bigint not null, expires_at bigint not null,
       primary key (space_id, agent_id, idempotency_key))`,
    `create index idempotency_expired on idempotency (space_id, expires_at)`,
    `create table jobs (space_id text not null, job_id text not null, agent_id text not null, delivery_id text not null,
       origin text not null, state text not null, due_at bigint not null, attempts bigint not null, fence bigint not null,
       leased_until bigint, created_at bigint not null, request {bytes} not null, primary key (space_id, job_id))`,
    `create index jobs_due on jobs (due_at, origin) where state = 'due'`,
    `create index jobs_by_delivery on jobs (space_id, delivery_id)`,
    `create table attempts (space_id text not null, job_id text not null, delivery_id text not null,
       number bigint not null, at bigint not null, duration_ms bigint not null, outcome text not null, status bigint,
       primary key (space_id, job_id, number))`,
    `create index attempts_by_delivery on attempts (space_id, delivery_id, at)`,
    `create table ledger (space_id text not null, seq bigint not null, at bigint not null, actor text not null,
       action text not null, subject text not null, data text not null, hash text not null,
       primary key (space_id, seq))`,
    `create table checkpoints (space_id text not null, seq bigint not null, hash text not null, at bigint not null,
       signature text not null, primary key (space_id, seq))`,
  ],
  [
    `alter table people add column sat_at bigint`,
    `alter table people add column removed_at bigint`,
    `alter table agents add column sample bigint not null default 0`,
    `alter table jobs add column kind text not null default 'callback'`,
    `create index jobs_by_agent on jobs (space_id, agent_id, created_at)`,
    `create table preferences (space_id text not null, person_id text not null, settings text not null,
       target {bytes}, digest_at bigint, primary key (space_id, person_id))`,
    `create index preferences_digest on preferences (digest_at) where digest_at is not null`,
    `create table drafts (space_id text not null, delivery_id text not null, person_id text not null,
       saved_at bigint not null, draft {bytes} not null, primary key (space_id, delivery_id, person_id))`,
    `create index drafts_by_person on drafts (space_id, person_id)`,
    `create table invitations (space_id text not null, invitation_id text not null, digest text not null,
       email text not null, role text not null, person_id text not null, created_at bigint not null,
       expires_at bigint not null, accepted_at bigint, primary key (space_id, invitation_id))`,
    `create unique index invitations_by_digest on invitations (digest)`,
    `create index invitations_open on invitations (space_id, email) where accepted_at is null`,
    // Keyed hashes of words, never words. The second index is for leaving: a delivery takes its words with it.
    `create table words (space_id text not null, word text not null, seq bigint not null,
       primary key (space_id, word, seq))`,
    `create index words_by_delivery on words (space_id, seq)`,
  ],
  [
    `alter table deliveries add column cause_event text`,
    `create table producers (space_id text not null, producer_id text not null, name text not null, tier text not null,
       any_id bigint not null, created_at bigint not null, last_seen_at bigint, primary key (space_id, producer_id))`,
    `create table producer_keys (space_id text not null, key_id text not null, producer_id text not null,
       algorithm text not null, created_at bigint not null, expires_at bigint, revoked_at bigint,
       secret {bytes} not null, primary key (space_id, key_id))`,
    // A key id finds its producer wherever it is, so it is unique on the server.
    `create unique index producer_keys_by_id on producer_keys (key_id)`,
    `create index producer_keys_newest on producer_keys (created_at) where revoked_at is null`,
    `create table refusals (space_id text not null, producer_id text not null, at bigint not null, event_id text,
       status bigint not null, reason text not null)`,
    `create index refusals_by_producer on refusals (space_id, producer_id, at)`,
    `create index refusals_old on refusals (space_id, at)`,
    `create table events (space_id text not null, seq bigint not null, producer_id text not null,
       event_id text not null, event_type text not null, received_at bigint not null, body_sha256 text not null,
       task_id text, causation_id text, fill_producer bigint not null, out_of_order bigint not null,
       body {bytes} not null, primary key (space_id, seq))`,
    `create unique index events_by_id on events (space_id, producer_id, event_id)`,
    `create index events_by_cause on events (space_id, causation_id) where causation_id is not null`,
    `create index events_old on events (space_id, received_at)`,
    `create table entries (space_id text not null, agent_id text not null, place bigint not null,
       event_seq bigint not null, producer_id text not null, event_id text not null, event_type text not null,
       task_id text, received_at bigint not null, kept_until bigint not null, ack text, processed_at bigint,
       reason text, primary key (space_id, agent_id, place))`,
    `create index entries_by_event on entries (space_id, agent_id, event_id)`,
    `create index entries_by_task on entries (space_id, agent_id, task_id, place) where task_id is not null`,
    `create index entries_unacked on entries (space_id, agent_id, place) where ack is null`,
    `create index entries_kept on entries (space_id, kept_until)`,
    `create index entries_of_event on entries (space_id, event_seq)`,
    `create table subscriptions (space_id text not null, subscription_id text not null, agent_id text not null,
       body text not null, is_default bigint not null, created_at bigint not null,
       primary key (space_id, subscription_id))`,
    `create index subscriptions_by_agent on subscriptions (space_id, agent_id)`,
    `create table waits (space_id text not null, wait_id text not null, agent_id text not null, open bigint not null,
       subject text not null, event_types text, interrupt_id text, run_state_ref text not null, policy text,
       expires_at bigint, created_at bigint not null, primary key (space_id, wait_id))`,
    `create index waits_open on waits (space_id, agent_id, created_at) where open = 1`,
    `create table resumes (space_id text not null, agent_id text not null, place bigint not null,
       resume_id text not null, event_id text not null, wait_id text, run_state_ref text, reason text not null,
       out_of_order bigint not null, at bigint not null, primary key (space_id, agent_id, place))`,
    `create table inboxes (space_id text not null, agent_id text not null, max_resume_policy text not null,
       show_reviews bigint not null, primary key (space_id, agent_id))`,
  ],
  [
    // A forwarding subscription signs with a secret of its own, and remembers which kind of key made it.
    `alter table subscriptions add column secret {bytes}`,
    `alter table subscriptions add column tier text not null default 'live'`,
    // A resume follows its event in a stream, so it knows the event's place.
    `alter table resumes add column entry_place bigint not null default 0`,
    `create index resumes_by_entry on resumes (space_id, agent_id, entry_place)`,
    `create index resumes_by_event on resumes (space_id, agent_id, event_id)`,
    `create index producer_keys_of_space on producer_keys (space_id, created_at) where revoked_at is null`,
    // Entries leave from the front of their inbox, and an event with its last entry: nobody looks by time any more.
    `drop index entries_kept`,
    `drop index events_old`,
  ],
  [
    // What a row says about a sealed content. Deliveries from before say nothing.
    `alter table deliveries add column parts bigint not null default 0`,
    `alter table deliveries add column irreversible bigint not null default 0`,
    `alter table sessions add column proved_at bigint not null default 0`,
    `create table passkeys (space_id text not null, passkey_id text not null, person_id text not null,
       name text not null, digest text not null, credential {bytes} not null, counter bigint not null,
       backed_up bigint not null, created_at bigint not null, last_used_at bigint,
       primary key (space_id, passkey_id))`,
    `create unique index passkeys_by_digest on passkeys (digest)`,
    `create index passkeys_by_person on passkeys (space_id, person_id)`,
    `create table used_challenges (space_id text not null, digest text not null, expires_at bigint not null,
       primary key (space_id, digest))`,
    `create index used_challenges_expired on used_challenges (space_id, expires_at)`,
    `create table resets (space_id text not null, person_id text not null, digest text not null,
       expires_at bigint not null, primary key (space_id, person_id))`,
    `create unique index resets_by_digest on resets (digest)`,
  ],
  TASK_TABLES,
  [
    // For removing what has ended: jobs that are not about a delivery, and waits.
    `create index jobs_ended on jobs (space_id, kind, due_at) where state <> 'due'`,
    `create index waits_ended on waits (space_id, created_at) where open = 0`,
  ],
  [
    // A delivery's id tells the place of its row to who has this key, so there is no index over random ids any more.
    `create table id_keys (space_id text not null primary key, key text not null)`,
    `insert into id_keys (space_id, key) values ('', {random})`,
    // The ids of before tell nothing.
    `create table other_ids (space_id text not null, delivery_id text not null, seq bigint not null,
       primary key (space_id, delivery_id))`,
    `insert into other_ids (space_id, delivery_id, seq) select space_id, delivery_id, seq from deliveries`,
    `alter table decisions add column delivered_at bigint not null default 0`,
    `update decisions set delivered_at = coalesce((select created_at from deliveries d where
       d.space_id = decisions.space_id and d.delivery_id = decisions.delivery_id), decided_at)`,
    `drop index deliveries_by_id`,
    // Bodies of events that came together are sealed together; a row without a segment still holds its own.
    `create table bodies (space_id text not null, segment bigint not null, last_seq bigint not null,
       sealed {bytes} not null, primary key (space_id, segment))`,
    `alter table events add column segment bigint`,
    `alter table events add column body_at bigint`,
    `alter table events add column body_size bigint`,
  ],
  [
    // Null: wherever the rules about addresses allow.
    `alter table spaces add column push_targets text`,
    `alter table sessions add column device text`,
    `alter table callers add column last_used_at bigint`,
    // Null: no laptop of it has ever been here, so that it cannot be asleep either.
    `alter table agents add column connected_at bigint`,
  ],
  [
    // Whether an event's knowledge lies elsewhere. For earlier events this was not noted: they have to be read.
    `alter table entries add column has_uri bigint not null default 1`,
  ],
  [
    // Attempts are found by their jobs, whose ids lie together when they were made together.
    `drop index attempts_by_delivery`,
  ],
  [
    // Ids of events are as random as their producers like: one index over them instead of two. It finds the event, and
    // its place in an inbox is found by that.
    `create unique index events_by_event_id on events (space_id, event_id, producer_id)`,
    `drop index events_by_id`,
    `create index entries_of_event_by_agent on entries (space_id, event_seq, agent_id)`,
    `drop index entries_of_event`,
    `drop index entries_by_event`,
  ],
  [
    // What few are in is found without passing those that are in something else: tasks of a state, and the open one among
    // all deliveries of years that had the same key.
    `create index tasks_of_caller on tasks (space_id, agent_id, caller, is_direct, state, changed_at, seq)`,
    `drop index tasks_by_change`,
    `create index tasks_by_state on tasks (space_id, is_direct, state, changed_at, seq)`,
    `drop index tasks_listed`,
    `create index deliveries_open_by_key on deliveries (space_id, agent_id, dedupe_key, state) where dedupe_key is not null`,
    `drop index deliveries_deduplicated`,
  ],
  [
    // A reset ends with the rights of who gave it out. Null: nobody noted that.
    `alter table resets add column given_by text`,
    // A retry is told what the first try was told.
    `alter table idempotency add column deduplicated bigint not null default 0`,
    // The desk looks at the tasks of one agent, whoever asked.
    `create index tasks_of_agent on tasks (space_id, agent_id, is_direct, state, changed_at, seq)`,
    // What a task's log holds, so that it can be refused more, and be read with care, without looking at all of it. What
    // was written before is not counted.
    `alter table tasks add column log_bytes bigint not null default 0`,
  ],
  [
    // What an agent has uploaded and no artifact has named. Uploads of before do not count.
    `alter table blobs add column is_unnamed bigint not null default 0`,
    `create index blobs_unnamed on blobs (space_id, agent_id, created_at, size) where is_unnamed = 1`,
  ],
  [
    // Whether a context is anybody's is asked without naming a caller.
    `create index tasks_in_context on tasks (space_id, agent_id, context_id, caller, seq)`,
    `drop index tasks_by_context`,
  ],
  [
    // The newest callbacks of an agent are found without passing what else is sent for it.
    `create index jobs_of_agent on jobs (space_id, agent_id, kind, created_at)`,
    `drop index jobs_by_agent`,
  ],
  [
    // A delivery tells its place in its thread. Most belong to none.
    `create index deliveries_of_thread on deliveries (space_id, agent_id, thread_id, seq) where thread_id is not null`,
  ],
];
