import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { type Config, UsageError } from '../config.ts';
import { counted } from '../core/counted.ts';
import type { Progress } from '../storage/move/move.ts';
import { type Common, common, configFor, print } from './with-ground.ts';

type MigrateOptions = Common & { from: string; to: string };

export function addMigrate(program: Command): void {
  common(
    program.command('migrate').description('move everything to the other database; run it again to continue'),
    'migrate --from sqlite:./data --to postgres://user@db.example.com/lanternroom',
    'migrate --from postgres://user@db.example.com/lanternroom --to sqlite:./data2',
  )
    .requiredOption('--from <place>', 'sqlite:DIR or postgres:URL')
    .requiredOption('--to <place>', 'sqlite:DIR or postgres:URL')
    .action(migrate);
}

/** Either a data folder or the address of a database. */
type Place = { folder: string } | { url: string };

function toPlace(flag: string, text: string): Place {
  const folder = /^sqlite:(.+)$/.exec(text)?.[1];
  if (folder !== undefined) return { folder };
  const url = /^(?:postgres:)?(postgres(?:ql)?:\/\/.+)$/.exec(text)?.[1];
  if (url !== undefined) return { url };
  throw new UsageError(`${flag} must be sqlite:DIR or postgres:URL, for example sqlite:./data.`);
}

async function migrate(options: MigrateOptions): Promise<void> {
  const [from, to] = [toPlace('--from', options.from), toPlace('--to', options.to)];
  if ('folder' in from === 'folder' in to)
    throw new UsageError('One side must be sqlite:DIR and the other postgres:URL.');
  const { moveAll } = await import('./migrate-ends.ts');
  const folder = 'folder' in from ? from.folder : 'folder' in to ? to.folder : '';
  const url = 'url' in from ? from.url : 'url' in to ? to.url : '';
  const config = withKey(configFor(options), folder);
  const direction = 'folder' in from ? ('toServer' as const) : ('toFolder' as const);
  const moved = await moveAll({ folder, url, direction, config, progress: progressLine(options) });
  const start =
    direction === 'toServer'
      ? `Start with DATABASE_URL set, and --data ${folder} where the master key is.`
      : `Start with --data ${folder} and without DATABASE_URL.`;
  print(
    options,
    { ok: true, ...moved },
    `Moved ${counted(moved.rows, 'row')}; every one was compared. ${start}`,
  );
}

/** The master key lies in the folder that is moved, unless it was given or lies in --data. */
function withKey(config: Config, folder: string): Config {
  return existsSync(join(folder, 'secret.key')) ? { ...config, data: folder } : config;
}

/** A line that is rewritten in place on a terminal, and one line per table elsewhere. */
function progressLine(options: Common): Progress {
  if (options.json) return () => {};
  if (process.stderr.isTTY)
    return (table, done, total) => process.stderr.write(`\r\u001b[K${table} ${done} of ${total}`);
  return (table, done, total) => {
    if (done === total) console.error(`${table}: ${counted(total, 'row')}`);
  };
}
