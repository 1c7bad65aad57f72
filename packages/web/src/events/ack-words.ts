import type { Ack } from '../api/event-types.ts';

const WORDS: Record<Ack['status'], string> = {
  stored: 'stored by the agent',
  applied: 'applied by the agent',
  rejected: 'rejected by the agent',
};

export function ackWords(ack: Ack | null): string {
  return ack === null ? 'not acknowledged yet' : WORDS[ack.status];
}
