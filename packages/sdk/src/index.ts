export * from './a2a/index.ts';
export * from './akep/index.ts';
// Both have one; the delivery's is the one that most programs write down.
export type { Content } from './wake/index.ts';
export * from './wake/index.ts';
