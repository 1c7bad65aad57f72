/** "1 entry", "2 entries": a number with its noun, in the right form. */
export function counted(n: number, noun: string): string {
  return `${n} ${plural(n, noun)}`;
}

export function plural(n: number, noun: string): string {
  if (n === 1) return noun;
  return noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}
