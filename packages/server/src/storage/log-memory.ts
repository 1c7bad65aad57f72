import { ShortMemory } from '../core/maps.ts';
import type { LogMemory } from '../core/tasks/log/log-memory.ts';
import type { LogEntry, TaskRecord } from '../core/tasks/task.ts';

const MOST_BYTES = 16 * 1024 * 1024;
const LARGEST = 64 * 1024;
/** A waiting caller looks at once, so an early drop makes nobody miss anything. */
const MOST_SETTLED = 1_000;

/**
 * Logs that were read and opened: a log of a given length never changes, so what is remembered is never wrong. A
 * caller that polls asks for the same one again and again. The oldest are dropped first, by size.
 */
/** Emptied when they are dropped (ARCHITECTURE.md, "What ends lets go of what it held"). */
type Known = { log: readonly LogEntry[]; bytes: number };
type Settled = { task: TaskRecord | undefined };

const NOTHING: readonly LogEntry[] = [];

export class RecentLogs implements LogMemory {
  readonly #known = new Map<string, Known>();
  readonly #settled = new ShortMemory<string, Settled>(MOST_SETTLED);
  #bytes = 0;

  get(name: string): readonly LogEntry[] | undefined {
    return this.#known.get(name)?.log;
  }

  settled(name: string): TaskRecord | undefined {
    return this.#settled.get(name)?.task;
  }

  settle(name: string, task: TaskRecord): void {
    this.#settled.set(name, { task });
  }

  forget(log: string, task: string): void {
    const settled = this.#settled.get(task);
    if (settled !== undefined) settled.task = undefined;
    this.#settled.delete(task);
    const known = this.#known.get(log);
    if (known !== undefined) this.#drop(log, known);
  }

  grow(from: string, to: string, entry: LogEntry, bytes: number): void {
    const known = this.#known.get(from);
    if (known === undefined) return;
    const log = [...known.log, entry];
    this.#drop(from, known);
    this.put(to, log, known.bytes + bytes);
  }

  put(name: string, log: readonly LogEntry[], bytes: number): void {
    if (bytes > LARGEST || this.#known.has(name)) return;
    this.#known.set(name, { log, bytes });
    this.#bytes += bytes;
    for (const [oldest, known] of this.#known) {
      if (this.#bytes <= MOST_BYTES) break;
      this.#drop(oldest, known);
    }
  }

  #drop(name: string, known: Known): void {
    this.#known.delete(name);
    this.#bytes -= known.bytes;
    known.log = NOTHING;
  }
}
