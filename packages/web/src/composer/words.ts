import { desk } from '../api/desk.ts';
import type { Draft, Json, Verdict } from '../api/types.ts';

/** What a person is about to say. `edited` is undefined while they have not taken the text into their own hands. */
export type Words = { mode: Verdict | null; feedback: string; edited: Json | undefined };

const NOTHING: Words = { mode: null, feedback: '', edited: undefined };
const SAVE_MS = 700;

/**
 * Words being written, by delivery. They outlive the composer, so that a refusal, an undo or a look elsewhere loses none;
 * the server keeps a copy for other browsers and for a reload.
 */
class WordsStore {
  readonly #words = new Map<string, Words>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  get(id: string): Words {
    return this.#words.get(id) ?? NOTHING;
  }

  write(id: string, change: Partial<Words>): void {
    this.#words.set(id, { ...this.get(id), ...change });
    this.#tell();
    clearTimeout(this.#timers.get(id));
    this.#timers.set(
      id,
      setTimeout(() => void this.save(id), SAVE_MS),
    );
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

  async save(id: string): Promise<void> {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    const { mode, feedback, edited } = this.get(id);
    const isEmpty = mode === null && feedback === '' && edited === undefined;
    try {
      if (isEmpty) await desk.dropDraft(id);
      else await desk.keepDraft(id, { mode, feedback, edited_content: edited ?? null });
    } catch {
      // The words are still here; the next change tries again.
    }
  }

  /** No more saving: the decision is on its way, and the draft goes with it. */
  hold(id: string): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }

  forget(id: string): void {
    this.hold(id);
    this.#words.delete(id);
    this.#tell();
  }

  clear(): void {
    for (const id of this.#timers.keys()) this.hold(id);
    this.#words.clear();
  }

  #tell(): void {
    for (const tell of this.#listeners) tell();
  }
}

export const words = new WordsStore();
