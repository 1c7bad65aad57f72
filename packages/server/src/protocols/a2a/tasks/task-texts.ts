import type { TaskDialect, TaskRecord } from '../../../core/tasks/task.ts';

const MOST_LENGTH = 8 * 1024 * 1024;
const LARGEST = 64 * 1024;

type Made = { text: string; isLasting: boolean };

/**
 * Tasks as last sent, by the length of their logs: a log of a given length never changes, so nothing here is ever
 * wrong. It pays because callers poll. The oldest are dropped first, by size.
 */
export class TaskTexts {
  readonly #known = new Map<string, string>();
  #length = 0;

  async of(task: TaskRecord, dialect: TaskDialect, make: () => Promise<Made>): Promise<string> {
    const name = `${task.space}/${task.seq}/${task.length}/${dialect}`;
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const { text, isLasting } = await make();
    if (isLasting && text.length <= LARGEST && !this.#known.has(name)) this.#keep(name, text);
    return text;
  }

  #keep(name: string, text: string): void {
    this.#known.set(name, text);
    this.#length += text.length;
    for (const [oldest, { length }] of this.#known) {
      if (this.#length <= MOST_LENGTH) break;
      this.#known.delete(oldest);
      this.#length -= length;
    }
  }
}
