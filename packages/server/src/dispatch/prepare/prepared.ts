import type { Letter } from '../mailer.ts';
import type { OutboundRequest } from '../outbound/outbound.ts';

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
