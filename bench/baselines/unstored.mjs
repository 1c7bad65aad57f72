import { readConfig } from '../../packages/server/dist/config.js';
import { openGround, startServer } from '../../packages/server/dist/main.js';

/**
 * Our own server on an existing folder, without storing what comes in: it reads, verifies, parses, checks and matches
 * as always, and answers where it would have committed. The difference is the cost of storing.
 */
const config = readConfig({ flags: { port: '0' }, env: process.env });
const ground = await openGround(config);
const { store } = ground.room;
const room = {
  ...ground.room,
  store: {
    directory: store.directory,
    read: (space, work) => store.read(space, work),
    // Of all writes, only that of an event names this head beside the ledger.
    write: (space, heads, work) =>
      heads.includes('subscriptions')
        ? Promise.resolve({ duplicate: false })
        : store.write(space, heads, work),
  },
};
// Without the second thread, which has a store of its own.
const data = { ...ground.data, local: null };
const running = await startServer(config, { ...ground, data, room });
process.send({ port: Number(new URL(running.url).port) });
process.on('disconnect', () => process.exit());
