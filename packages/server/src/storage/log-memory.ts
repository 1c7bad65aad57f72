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
export class RecentLogs implements LogMemory {
  readonly #known = new Map<string, { log: readonly LogEntry[]; bytes: number }>();
  readonly #settled = new ShortMemory<string, TaskRecord>(MOST_SETTLED);
  #bytes = 0;

  get(name: string): readonly LogEntry[] | undefined {
    return this.#known.get(name)?.log;
  }

  settled(name: string): TaskRecord | undefined {
    return this.#settled.get(name);
  }

  settle(name: string, task: TaskRecord): void {
    this.#settled.set(name, task);
  }

  forget(log: string, task: string): void {
    this.#settled.delete(task);
    const known = this.#known.get(log);
    if (known === undefined) return;
    this.#known.delete(log);
    this.#bytes -= known.bytes;
  }

  grow(from: string, to: string, entry: LogEntry, bytes: number): void {
    const known = this.#known.get(from);
    if (known === undefined) return;
    this.#known.delete(from);
    this.#bytes -= known.bytes;
    this.put(to, [...known.log, entry], known.bytes + bytes);
  }

  put(name: string, log: readonly LogEntry[], bytes: number): void {
    if (bytes > LARGEST || this.#known.has(name)) return;
    this.#known.set(name, { log, bytes });
    this.#bytes += bytes;
    for (const [oldest, { bytes: freed }] of this.#known) {
      if (this.#bytes <= MOST_BYTES) break;
      this.#known.delete(oldest);
      this.#bytes -= freed;
    }
  }
}
