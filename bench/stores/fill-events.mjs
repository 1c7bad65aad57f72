import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startAkep } from '../requests/akep.mjs';

/** A data folder with so many events in the agent's inbox: real rows, real ledger, real seals, through the core. */
export async function fillEvents(total) {
  const { folder, stop } = await startAkep();
  await stop();
  const child = fork(fileURLToPath(new URL('./seed-events.mjs', import.meta.url)), [
    JSON.stringify({ folder, total }),
  ]);
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`filling the store failed with code ${code}; see above`);
  return folder;
}
