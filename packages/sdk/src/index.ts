export * from './akep/index.ts';
export * from './wake/index.ts';
