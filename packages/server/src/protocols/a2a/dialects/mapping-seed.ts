import type { Dialect } from './dialect.ts';
import { olderDialect } from './mapping-v03.ts';

/** The wakeup.sh reference: parts are tagged with `type`, states are spelled `input_required` (A4, A12). */
export const SEED: Dialect = olderDialect({
  name: 'seed',
  spelling: 'seed',
  state: (state) => state,
  tag: (kind) => ({ kind, type: kind }),
});
