/** Numbers that look random and are the same in every run (mulberry32). */
export class Seeded {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  pick<T>(items: readonly T[]): T | undefined {
    return items[this.below(items.length)];
  }
}

const USUAL_SEED = 20_261_115;

/** The seed of this run, printed. `LANTERNROOM_SEED` repeats another one. */
export function seededRun(usual: number = USUAL_SEED): Seeded {
  const seed = Number(process.env.LANTERNROOM_SEED ?? usual);
  if (!Number.isSafeInteger(seed)) throw new Error('LANTERNROOM_SEED must be a whole number.');
  process.stdout.write(`Seed ${seed}; LANTERNROOM_SEED=${seed} repeats it.\n`);
  return new Seeded(seed);
}
