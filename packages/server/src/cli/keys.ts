import type { Command } from 'commander';
import { UsageError } from '../config.ts';
import { type Common, common, configFor, print, withGround } from './with-ground.ts';

/** The master key, and how it is replaced. */
export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('The master key: which one seals, and how to replace it');
  common(
    key.command('status').description('which master key seals, and whether another one is still needed'),
    'key status --json',
  ).action(status);
  common(
    key.command('rotate').description('make a new master key; the next start uses it and reseals everything'),
    'key rotate',
  ).action(rotate);
  common(
    key.command('drop').description('forget the old master key, once nothing is sealed with it any more'),
    'key drop',
  ).action(drop);
}

const keysOf = (options: Common) =>
  withGround(options, async ({ data }) => {
    const { notedKeys } = await import('../storage/sealing/sealed-by.ts');
    return { noted: await notedKeys(data.store), wanted: data.vault.wantedKeyId };
  });

async function status(options: Common): Promise<void> {
  const { noted, wanted } = await keysOf(options);
  const finished = noted.length === 1 && noted[0] === wanted;
  const words = finished
    ? `Everything is sealed with the master key ${wanted}.`
    : noted.includes(wanted)
      ? `The server is replacing ${noted.slice(1).join(', ')} by ${wanted}. Keep both until it is done.`
      : `The master key ${wanted} waits for the next start of the server; ${noted[0]} seals until then.`;
  print(options, { key: wanted, sealed_by: noted, finished }, words);
}

async function rotate(options: Common): Promise<void> {
  const { folder, keys } = await ownKeys(options);
  const { noted, wanted } = await keysOf(options);
  if (keys.length > 1 || noted.length > 1 || noted[0] !== wanted) {
    throw new Error('The master key is already being replaced. See: lanternroom key status');
  }
  const { newKey, replaceKeys } = await import('../storage/sealing/master-key.ts');
  replaceKeys(folder, [newKey(), ...keys]);
  print(
    options,
    { folder, keys: keys.length + 1 },
    `A new master key is in ${folder}/secret.key, before the old one. Copy the file to where you keep your backups, then restart the server: it reseals everything while it runs. "lanternroom key status" tells you when that is done.`,
  );
}

async function drop(options: Common): Promise<void> {
  const { folder, keys } = await ownKeys(options);
  const { noted, wanted } = await keysOf(options);
  const [first] = keys;
  if (first === undefined || keys.length === 1) throw new Error('There is only one master key.');
  if (noted.length > 1 || noted[0] !== wanted) {
    throw new Error('The old master key is still needed. See: lanternroom key status');
  }
  const { replaceKeys } = await import('../storage/sealing/master-key.ts');
  replaceKeys(folder, [first]);
  print(
    options,
    { folder, keys: 1 },
    'The old master key is forgotten here. Backups from before the change still need it.',
  );
}

/** The keys in the data folder, if they are the ones in use. */
async function ownKeys(options: Common): Promise<{ folder: string; keys: string[] }> {
  const { data: folder, secret } = configFor(options);
  if (secret !== null) {
    throw new UsageError(
      'The master key comes from LANTERNROOM_SECRET. Put the new one into it before the old one, one per line, and restart; remove the old one when "lanternroom key status" says that everything is sealed with the new one.',
    );
  }
  const { keysInFolder } = await import('../storage/sealing/master-key.ts');
  const keys = keysInFolder(folder);
  if (keys === null) throw new Error(`There is no secret.key in ${folder}.`);
  return { folder, keys };
}
