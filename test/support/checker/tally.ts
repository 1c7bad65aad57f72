/** The invariants that are looked at after every fault. */
export const LAWS = ['L1', 'L2', 'L3', 'L4', 'L5', 'L6', 'L7', 'L8'] as const;
export type Law = (typeof LAWS)[number];

type Row = { readonly facts: Map<Law, number>; healthyMs: number };

const MOST_SHOWN = 12;

/** How many facts were compared for each law under each fault, and every one that was not so. */
export class Tally {
  readonly broken: string[] = [];
  readonly #rows = new Map<string, Row>();

  /** One fact. A law that is broken is remembered, so that one run tells everything that is wrong. */
  check(law: Law, fault: string, holds: boolean, problem: () => string): void {
    const { facts } = this.#row(fault);
    facts.set(law, (facts.get(law) ?? 0) + 1);
    if (!holds) this.broken.push(`${law} under "${fault}": ${problem()}`);
  }

  healthy(fault: string, millis: number): void {
    const row = this.#row(fault);
    row.healthyMs = Math.max(row.healthyMs, millis);
  }

  /** The laws that were really looked at under this fault. */
  lawsUnder(fault: string): Law[] {
    const facts = this.#rows.get(fault)?.facts;
    return LAWS.filter((law) => (facts?.get(law) ?? 0) > 0);
  }

  throwIfBroken(): void {
    if (this.broken.length === 0) return;
    const more = this.broken.length - MOST_SHOWN;
    const shown = this.broken.slice(0, MOST_SHOWN).join('\n');
    throw new Error(
      `${this.broken.length} broken promises:\n${shown}${more > 0 ? `\n… and ${more} more` : ''}`,
    );
  }

  /** Faults × laws, each with the number of facts that were compared. */
  table(): string {
    const head = ['fault', ...LAWS, 'healthy after'];
    const rows = [...this.#rows].map(([fault, { facts, healthyMs }]) => [
      fault,
      ...LAWS.map((law) => String(facts.get(law) ?? '–')),
      healthyMs > 0 ? `${(healthyMs / 1000).toFixed(1)} s` : '–',
    ]);
    const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]?.length ?? 0)));
    const line = (cells: readonly string[]) =>
      cells
        .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
        .join('  ');
    return [line(head), ...rows.map(line)].join('\n');
  }

  #row(fault: string): Row {
    const known = this.#rows.get(fault);
    if (known !== undefined) return known;
    const row = { facts: new Map<Law, number>(), healthyMs: 0 };
    this.#rows.set(fault, row);
    return row;
  }
}
