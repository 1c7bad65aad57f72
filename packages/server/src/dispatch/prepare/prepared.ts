import type { Letter } from '../mailer.ts';
import type { OutboundRequest } from '../outbound/outbound.ts';

/** Signs the bytes of a callback or of a forwarded event with the secrets of who gets them (W20, K19). */
export type SignCallback = (signing: {
  secrets: readonly string[];
  body: Uint8Array;
  id: string;
  timestamp: number;
}) => Readonly<Record<string, string>>;

/** What a job has become by the time it is sent. */
export type Prepared =
  | { kind: 'http'; request: OutboundRequest }
  | { kind: 'mail'; letter: Letter }
  /** Nothing had to be sent: whoever it is for is here, and has it. */
  | { kind: 'placed' }
  /** Not now, by a rule that may change; tried again on schedule. */
  | { kind: 'refused'; outcome: string }
  /** Never again. */
  | { kind: 'over'; outcome: string };
