import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { patientStdio } from './patient-stdio.ts';
import type { Room } from './room.ts';
import { createLanternServer } from './server.ts';
import { pushUpdates } from './updates.ts';

/** Serves one agent over this process's standard input and output, until the client closes it. */
export function serveRoomOverStdio(room: Room, onError: (error: Error) => void): Promise<void> {
  return new Promise((resolve) => {
    const ending = new AbortController();
    const transport = patientStdio(() => {
      ending.abort();
      resolve();
    });
    serveStdio(
      ({ era }) => {
        const server = createLanternServer(room, { announces: true });
        const closed = new AbortController();
        server.server.onclose = () => closed.abort();
        // The library makes a probe instance and closes it: it must not leave a reader behind.
        pushUpdates(server, room, era, AbortSignal.any([closed.signal, ending.signal]));
        return server;
      },
      { onerror: onError, transport },
    );
  });
}
