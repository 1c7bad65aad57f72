import { desk } from '../api/desk.ts';
import { isNotOurs, isRefused } from '../api/refused.ts';
import type { Json, KeptDraft, Verdict } from '../api/types.ts';
import { serverNow } from '../live/clock.ts';

/** What the person is about to answer. `edited` is undefined until they edit the content themselves. */
export type Words = { mode: Verdict | null; feedback: string; edited: Json | undefined };

const NOTHING: Words = { mode: null, feedback: '', edited: undefined };
const SAVE_MS = 700;
const AGAIN_MS = 4_000;
/** How far the server's clock may be from what is known of it here. */
const SLACK_MS = 5_000;

/**
 * When the server got the words that are here, on its clock, and how many times something had been written here when
 * they came from there; null if they were written here.
 */
type Known = { at: number; times: number | null };

/**
 * Whether the server has saved the words as they are here: `logged_out` while nobody is logged in, `refused` when it
 * does not accept them, `over` when the delivery can no longer be answered.
 */
export type Keeping = 'kept' | 'soon' | 'failed' | 'logged_out' | 'refused' | 'over';

const ONLY_HERE: readonly Keeping[] = ['failed', 'logged_out', 'refused'];

/**
 * The words being written, by delivery. They outlive the composer, so that a refusal, an undo or a visit to another
 * screen loses none of them; the server keeps a copy for other browsers and for a reload.
 */
class WordsStore {
  readonly #words = new Map<string, Words>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #keeping = new Map<string, Keeping>();
  /**
   * How many requests are under way, by delivery: at most one, so that an older text never overwrites a newer one,
   * until the page may be closed.
   */
  readonly #underWay = new Map<string, number>();
  readonly #listeners = new Set<() => void>();
  /** How many times the person has written something, by delivery. */
  readonly #times = new Map<string, number>();
  /** What is known of the server's copy, by delivery. */
  readonly #known = new Map<string, Known>();
  /** How many times words that were written in another browser have taken the place of those here, by delivery. */
  readonly #taken = new Map<string, number>();

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  get(id: string): Words {
    return this.#words.get(id) ?? NOTHING;
  }

  has(id: string): boolean {
    return this.#words.has(id);
  }

  keeping(id: string): Keeping {
    return this.#keeping.get(id) ?? 'kept';
  }

  /** Whether there are words that could not be saved to the server. */
  hasUnkept(): boolean {
    return [...this.#keeping.values()].some((keeping) => ONLY_HERE.includes(keeping));
  }

  timesWritten(id: string): number {
    return this.#times.get(id) ?? 0;
  }

  write(id: string, change: Partial<Words>): void {
    this.#words.set(id, { ...this.get(id), ...change });
    this.#times.set(id, this.timesWritten(id) + 1);
    this.keepAgain(id);
  }

  timesTaken(id: string): number {
    return this.#taken.get(id) ?? 0;
  }

  /** Takes over the server's draft, unless words were written here that it does not go on from. */
  adopt(id: string, draft: KeptDraft): void {
    if (this.#words.has(id)) {
      if (!this.#wentOn(id, draft)) return;
      this.#taken.set(id, this.timesTaken(id) + 1);
    }
    this.#known.set(id, { at: Date.parse(draft.saved_at), times: this.timesWritten(id) });
    this.#words.set(id, {
      mode: draft.mode,
      feedback: draft.feedback ?? '',
      edited: draft.edited_content ?? undefined,
    });
    this.#tell();
  }

  /** Whether the person went on writing in another browser: the draft is newer than the words here, and none would be lost. */
  #wentOn(id: string, draft: KeptDraft): boolean {
    const known = this.#known.get(id);
    if (known === undefined || this.keeping(id) !== 'kept' || Date.parse(draft.saved_at) <= known.at)
      return false;
    const { feedback, edited } = this.get(id);
    return (
      known.times === this.timesWritten(id) || (edited === undefined && draft.feedback.startsWith(feedback))
    );
  }

  /** Saves the current words in a moment. */
  keepAgain(id: string, afterMs = SAVE_MS): void {
    if (!this.#words.has(id)) return;
    if (this.#keeping.get(id) !== 'failed') this.#keeping.set(id, 'soon');
    clearTimeout(this.#timers.get(id));
    this.#timers.set(
      id,
      setTimeout(() => void this.#save(id), afterMs),
    );
    this.#tell();
  }

  /** Saves what could not be saved while nobody was logged in. */
  loggedIn(): void {
    for (const [id, keeping] of [...this.#keeping]) if (keeping === 'logged_out') this.keepAgain(id);
  }

  /** Saves at once what was to be saved soon, because the page may be closed in a moment. */
  async flush(): Promise<void> {
    await Promise.all([...this.#timers.keys()].map((id) => this.#saveNow(id)));
  }

  /** Does not wait for a request under way: the page might not live to see its end. */
  async #saveNow(id: string): Promise<void> {
    const isSecond = this.#underWay.has(id);
    await this.#send(id);
    // If it does live, the older text may have come last.
    if (isSecond && this.#keeping.get(id) === 'kept') this.keepAgain(id);
  }

  /** Stops saving: the decision is on its way, and the server drops the draft with it. */
  hold(id: string): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    this.#keeping.delete(id);
  }

  forget(id: string): void {
    this.hold(id);
    this.#words.delete(id);
    this.#known.delete(id);
    this.#tell();
  }

  clear(): void {
    for (const id of [...this.#keeping.keys()]) this.hold(id);
    this.#words.clear();
    this.#times.clear();
    this.#known.clear();
    this.#taken.clear();
  }

  async #save(id: string): Promise<void> {
    if (this.#underWay.has(id)) this.keepAgain(id);
    else await this.#send(id);
  }

  async #send(id: string): Promise<void> {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    const said = this.get(id);
    this.#count(id, 1);
    const outcome = await keep(id, said);
    this.#count(id, -1);
    // The words were changed, sent or forgotten in the meantime, so this outcome no longer matters.
    if (this.#timers.has(id) || !this.#keeping.has(id) || this.get(id) !== said) return;
    this.#keeping.set(id, outcome);
    if (outcome === 'kept') this.#known.set(id, { at: serverNow() + SLACK_MS, times: null });
    if (outcome === 'failed') this.keepAgain(id, AGAIN_MS);
    this.#tell();
  }

  #count(id: string, by: 1 | -1): void {
    const count = (this.#underWay.get(id) ?? 0) + by;
    if (count === 0) this.#underWay.delete(id);
    else this.#underWay.set(id, count);
  }

  #tell(): void {
    for (const tell of this.#listeners) tell();
  }
}

async function keep(id: string, { mode, feedback, edited }: Words): Promise<Keeping> {
  const isEmpty = mode === null && feedback === '' && edited === undefined;
  try {
    if (isEmpty) await desk.dropDraft(id);
    else await desk.keepDraft(id, { mode, feedback, edited_content: edited ?? null });
    return 'kept';
  } catch (error) {
    if (!isRefused(error) || isNotOurs(error)) return 'failed';
    // Trying again would not help until the person has logged in.
    if (error.status === 401) return 'logged_out';
    if ([413, 422].includes(error.status)) return 'refused';
    return [403, 404, 409].includes(error.status) ? 'over' : 'failed';
  }
}

export const words = new WordsStore();
