/**
 * Secrets that are shown once, on their way from the request that made them to the screen that shows them. They are
 * never stored.
 */
export type Once = { key?: string; callbackSecret?: string };

const kept = new Map<string, Once>();

export function keepOnce(agent: string, once: Once): void {
  kept.set(agent, once);
}

export function takeOnce(agent: string): Once | null {
  return kept.get(agent) ?? null;
}

export function forgetOnce(agent: string): void {
  kept.delete(agent);
}
