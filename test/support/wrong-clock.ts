import type { Environment } from './command.ts';

/** A program of Node's whose wall clock is wrong by so much from its first moment on. Nothing else of it is changed. */
export function wrongClock(millis: number): Environment {
  const code = `const Real = Date;
    globalThis.Date = class Date extends Real {
      constructor(...given) { if (given.length === 0) super(Real.now() + ${millis}); else super(...given); }
      static now() { return Real.now() + ${millis}; }
    };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}
