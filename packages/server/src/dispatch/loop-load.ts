import { performance } from 'node:perf_hooks';

/** How busy the event loop is with everything but its owner's work: measured only while the owner rests. */
export class LoopLoad {
  #mark = performance.eventLoopUtilization();
  #active = 0;
  #idle = 0;

  /** The owner begins to rest. */
  rest(): void {
    this.#mark = performance.eventLoopUtilization();
  }

  /** The owner works again. */
  work(): void {
    const { active, idle } = performance.eventLoopUtilization(this.#mark);
    this.#active += active;
    this.#idle += idle;
  }

  /** From 0 to 1, since the last call. */
  take(): number {
    const all = this.#active + this.#idle;
    const busy = all === 0 ? 0 : this.#active / all;
    [this.#active, this.#idle] = [0, 0];
    return busy;
  }
}
