/** How many requests may be under way: in all, to a receiver that answers promptly, and to one that may not. */
const AT_ONCE = 256;
const TO_A_PROMPT_ONE = 4;
const TO_ANOTHER = 1;
/** This many places are reserved for prompt receivers. */
const KEPT_FREE = 64;
const MOST_REMEMBERED = 10_000;
/** Half of the time that an attempt may take. */
const PROMPT_MS = 15_000;

/**
 * Who may be sent something now. Receivers are kept apart by origin: one that hangs holds up one request of its own, and
 * any number of those leave room for everybody else.
 */
export class Receivers {
  readonly #underWay = new Map<string, number>();
  readonly #prompt = new Set<string>();
  #all = 0;

  /** How many places are free, at least for prompt receivers. */
  get room(): number {
    return AT_ONCE - this.#all;
  }

  /** Takes a place for one request, which `release` gives back; false when there is none. */
  admit(origin: string): boolean {
    const already = this.#underWay.get(origin) ?? 0;
    if (this.room === 0 || already >= this.#most(origin)) return false;
    if (!this.#prompt.has(origin) && this.#toOthers() >= AT_ONCE - KEPT_FREE) return false;
    this.#underWay.set(origin, already + 1);
    this.#all++;
    return true;
  }

  /** `tookMs` is null when nothing was sent. A quick refusal counts as prompt, too: it holds nobody up. */
  release(origin: string, tookMs: number | null): void {
    const left = (this.#underWay.get(origin) ?? 1) - 1;
    if (left > 0) this.#underWay.set(origin, left);
    else this.#underWay.delete(origin);
    this.#all--;
    if (tookMs === null) return;
    if (tookMs > PROMPT_MS) this.#prompt.delete(origin);
    else this.#remember(origin);
  }

  /** The receivers that may get nothing more just now. */
  full(): string[] {
    return [...this.#underWay].filter(([origin, n]) => n >= this.#most(origin)).map(([origin]) => origin);
  }

  #most(origin: string): number {
    return this.#prompt.has(origin) ? TO_A_PROMPT_ONE : TO_ANOTHER;
  }

  #toOthers(): number {
    let count = 0;
    for (const [origin, n] of this.#underWay) if (!this.#prompt.has(origin)) count += n;
    return count;
  }

  #remember(origin: string): void {
    if (this.#prompt.size >= MOST_REMEMBERED) this.#prompt.clear();
    this.#prompt.add(origin);
  }
}
