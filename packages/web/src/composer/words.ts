import { desk } from '../api/desk.ts';
import { isRefused } from '../api/refused.ts';
import type { Draft, Json, Verdict } from '../api/types.ts';

/** What a person is about to say. `edited` is undefined while they have not taken the text into their own hands. */
export type Words = { mode: Verdict | null; feedback: string; edited: Json | undefined };

const NOTHING: Words = { mode: null, feedback: '', edited: undefined };
const SAVE_MS = 700;
const AGAIN_MS = 4_000;

/**
 * Whether the server has the words as they stand here; `logged_out` while it does not know whose they are, `refused` when
 * it will not have them, `over` when there is nothing to answer any more.
 */
export type Keeping = 'kept' | 'soon' | 'failed' | 'logged_out' | 'refused' | 'over';

const ONLY_HERE: readonly Keeping[] = ['failed', 'logged_out', 'refused'];

/**
 * Words being written, by delivery. They outlive the composer, so that a refusal, an undo or a look elsewhere loses none;
 * the server keeps a copy for other browsers and for a reload.
 */
class WordsStore {
  readonly #words = new Map<string, Words>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #keeping = new Map<string, Keeping>();
  /** One request at a time for each, so that an older text never lands on a newer one. */
  readonly #underWay = new Set<string>();
  readonly #listeners = new Set<() => void>();
  /** How often the person has written, by delivery. */
  readonly #times = new Map<string, number>();

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

  /** Something here is nowhere else, and could not be brought there. */
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

  /** From the server, when nothing has been written here. */
  adopt(id: string, draft: Draft): void {
    if (this.#words.has(id)) return;
    this.#words.set(id, {
      mode: draft.mode,
      feedback: draft.feedback ?? '',
      edited: draft.edited_content ?? undefined,
    });
    this.#tell();
  }

  /** Saves what stands here, in a moment: it was not, or saving had been put off. */
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

  /** Somebody is logged in again: what nobody would take meanwhile is saved. */
  loggedIn(): void {
    for (const [id, keeping] of [...this.#keeping]) if (keeping === 'logged_out') this.keepAgain(id);
  }

  /** The page may be gone in a moment: what was to be saved soon is saved now. */
  async flush(): Promise<void> {
    await Promise.all([...this.#timers.keys()].map((id) => this.#save(id)));
  }

  /** No more saving: the decision is on its way, and the draft goes with it. */
  hold(id: string): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    this.#keeping.delete(id);
  }

  forget(id: string): void {
    this.hold(id);
    this.#words.delete(id);
    this.#tell();
  }

  clear(): void {
    for (const id of [...this.#keeping.keys()]) this.hold(id);
    this.#words.clear();
    this.#times.clear();
  }

  async #save(id: string): Promise<void> {
    if (this.#underWay.has(id)) return this.keepAgain(id);
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    const said = this.get(id);
    this.#underWay.add(id);
    const outcome = await keep(id, said);
    this.#underWay.delete(id);
    // Written on, sent or forgotten meanwhile: that is seen to already.
    if (this.#timers.has(id) || !this.#keeping.has(id) || this.get(id) !== said) return;
    this.#keeping.set(id, outcome);
    if (outcome === 'failed') this.keepAgain(id, AGAIN_MS);
    this.#tell();
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
    if (!isRefused(error)) return 'failed';
    // Asking again and again changes nothing: it is for the person to log in.
    if (error.status === 401) return 'logged_out';
    if ([413, 422].includes(error.status)) return 'refused';
    return [403, 404, 409].includes(error.status) ? 'over' : 'failed';
  }
}

export const words = new WordsStore();
