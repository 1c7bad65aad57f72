export type { HeldCall, Wording } from './call.ts';
export { type Refuse, type ReviewOptions, type Run, review, type Verdict } from './review.ts';
