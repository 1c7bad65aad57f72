export { RECENT } from './resources.ts';
export type { Room } from './room.ts';
export { createLanternServer } from './server.ts';
export { serveRoomOverStdio } from './stdio.ts';
