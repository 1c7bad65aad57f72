import type { AckCall, EntryCall } from './entries.ts';
import type { EventDraft } from './envelope.ts';
import type { FollowOptions } from './follow.ts';
import type { InboxCall } from './parts.ts';
import type { Sent } from './producer.ts';
import type { EventPage, PageCall } from './replay.ts';
import type { EventHandler, RunOptions } from './run.ts';
import type { Streamed, StreamOptions } from './stream.ts';
import type { SubscriptionDraft } from './subscriptions.ts';
import type { Awaited, WaitForOptions } from './waits.ts';
import type {
  AckStatus,
  AkepEvent,
  EventView,
  Policy,
  Resume,
  Subscription,
  TaskView,
  Wait,
  WaitBody,
} from './wire.ts';

/** What an agent does with its inbox. Reading is for one reader at a time; give each its own `cursor`. */
export interface Inbox extends AsyncIterable<AkepEvent> {
  /**
   * Every event from where the last reader stopped, then each as it comes. An event counts as read when the next one
   * is asked for; acknowledging it is up to you.
   * @example
   * for await (const event of inbox.events({ types: ['human.approved'], signal })) {
   *   await goOn(event);
   *   await inbox.ack(event.event_id, 'applied');
   * }
   */
  events(options?: FollowOptions): AsyncGenerator<AkepEvent, void, undefined>;
  /**
   * Events and resumes on one connection as they happen, each with the place that follows it; acknowledging, and remembering
   * the place, is up to you. `run` and `events` do the same by long-poll, with a bookmark.
   * @example
   * for await (const item of inbox.stream({ signal })) {
   *   if (item.type === 'event') await goOn(item.event);
   * }
   */
  stream(options?: StreamOptions): AsyncGenerator<Streamed, void, undefined>;
  /**
   * Every decision of the server that a paused run may go on, looked for every 2 s. `run` with `onResume` is quicker.
   * @example
   * for await (const resume of inbox.resumes({ signal })) await load(resume.run_state_ref);
   */
  resumes(options?: FollowOptions): AsyncGenerator<Resume, void, undefined>;
  /**
   * Hands each event to the handler and acknowledges it afterwards: `applied`, or what the handler returns. A handler
   * that throws leaves its event unacknowledged and ends `run` with the error, unless `onError` says otherwise. Ends
   * without an error when the signal fires, after what was begun. An event may come twice after a crash: be ready.
   * @example
   * await inbox.run(async (event) => remember(event.knowledge), { onResume: (resume) => wake(resume.run_state_ref), signal });
   */
  run(handler: EventHandler, options?: RunOptions): Promise<void>;
  /**
   * Says what became of an event. The same again changes nothing; `stored` may become `applied` or `rejected`, any
   * other change is fault `conflict`.
   * @example
   * await inbox.ack(event.event_id, 'rejected', { reason: 'Not about this project.' });
   */
  ack(eventId: string, status: AckStatus, options?: AckCall): Promise<void>;
  /**
   * One event, with what was said about it.
   * @example
   * const { event, ack } = await inbox.get('evt_0123456789');
   */
  get(eventId: string, options?: EntryCall): Promise<EventView>;
  /**
   * One page of events, from wherever you say, without moving the place of the reader. Null when `waitSeconds` pass.
   * @example
   * const page = await inbox.page({ last: 20 });
   */
  page(options?: PageCall): Promise<EventPage | null>;
  /**
   * The state of a task, as its events tell it.
   * @example
   * if ((await inbox.task('task_42')).status === 'completed') collect();
   */
  task(taskId: string, options?: InboxCall): Promise<TaskView>;
  /**
   * Makes something known to other agents, in this agent's own name.
   * @example
   * await inbox.emit({ event_type: 'knowledge.acquired', subject: { task_id: 'task_42' }, knowledge: { kind: 'observation', summary: 'The supplier has closed.' } });
   */
  emit(draft: EventDraft, options?: InboxCall): Promise<Sent>;
  /**
   * Takes more events into the inbox. A new agent of a fresh space takes everything already.
   * @example
   * const { subscription_id } = await inbox.subscribe({ event_types: ['tool.completed'], filters: { 'subject.task_id': 'task_42' } });
   */
  subscribe(draft: SubscriptionDraft, options?: InboxCall): Promise<Subscription>;
  /**
   * @example
   * const ids = (await inbox.subscriptions()).map((one) => one.subscription_id);
   */
  subscriptions(options?: InboxCall): Promise<Subscription[]>;
  /**
   * @example
   * await inbox.unsubscribe('sub_0123456789');
   */
  unsubscribe(subscriptionId: string, options?: InboxCall): Promise<void>;
  /**
   * Says what a paused run waits for, before it is put away. Its resume comes through `run` or `resumes`.
   * @example
   * const { wait_id } = await inbox.openWait({ subject: { task_id: 'task_42' }, run_state_ref: 'runs/42.json' });
   */
  openWait(wait: WaitBody, options?: InboxCall): Promise<Wait>;
  /**
   * The waits that are still open.
   * @example
   * const open = (await inbox.waits()).length;
   */
  waits(options?: InboxCall): Promise<Wait[]>;
  /**
   * @example
   * await inbox.endWait('wait_0123456789');
   */
  endWait(waitId: string, options?: InboxCall): Promise<void>;
  /**
   * Opens a wait and stays until it is resumed or the time is up; then the wait is ended. For runs that can stay.
   * @example
   * const came = await inbox.waitFor({ event_types: ['tool.completed'], subject: { task_id: 'task_42' }, run_state_ref: 'here' }, { timeoutMs: 600_000 });
   * if (came.status === 'resumed') goOn(came.event);
   */
  waitFor(wait: WaitBody, options?: WaitForOptions): Promise<Awaited>;
  /**
   * The agent's own limit on what may wake it; the stricter of this and an event's advice wins.
   * @example
   * const { max_resume_policy } = await inbox.policy();
   */
  policy(options?: InboxCall): Promise<Policy>;
  /**
   * @example
   * await inbox.setPolicy({ max_resume_policy: 'resume_if_waiting' });
   */
  setPolicy(change: Partial<Policy>, options?: InboxCall): Promise<Policy>;
}
