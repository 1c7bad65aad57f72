import type { Command } from 'commander';
import { type Config, readConfig, type Sources, UsageError } from '../config.ts';
import type { Space } from '../core/store.ts';
import type { Ground } from '../ground.ts';

/** The options that every command has. */
export type Common = { data?: string; json?: boolean; space?: string };

/** `examples` follow the program's name; help shows them. */
export function common(command: Command, ...examples: readonly string[]): Command {
  const shown = examples.map((example) => `\n  lanternroom ${example}`).join('');
  return command
    .option('--data <dir>', 'the data folder (LANTERNROOM_DATA, ./data)')
    .option('--json', 'print one JSON object for programs')
    .addHelpText('after', `\n${examples.length > 1 ? 'Examples' : 'Example'}:${shown}`)
    .exitOverride();
}

export function inSpace(command: Command, ...examples: readonly string[]): Command {
  return common(command, ...examples).option('--space <handle>', 'which space, when there are several');
}

export function sourcesFor({ data }: Common): Sources {
  return { flags: { data }, env: process.env };
}

export function configFor(options: Common): Config {
  return readConfig(sourcesFor(options));
}

/** Opens the store that is there, does one thing, closes it again. A mistyped folder must not become an empty store. */
export async function withGround<T>(options: Common, work: (ground: Ground) => Promise<T>): Promise<T> {
  const { data, databaseUrl } = configFor(options);
  const { holdsStore } = await import('../storage/folder/data-folder.ts');
  if (databaseUrl === null && !holdsStore(data)) {
    throw new UsageError(
      `There is no data in ${data}. Name its folder with --data, its PostgreSQL in DATABASE_URL, or make it with: lanternroom serve --data ${data}`,
    );
  }
  return withGroundOrNew(options, work);
}

/** The same, and makes the store where there is none. */
export async function withGroundOrNew<T>(options: Common, work: (ground: Ground) => Promise<T>): Promise<T> {
  const { openGround } = await import('../ground.ts');
  const ground = await openGround(configFor(options));
  try {
    return await work(ground);
  } finally {
    await ground.stop();
  }
}

/** In the space that is named, or the only one. */
export function withSpace<T>(
  options: Common,
  work: (ground: Ground, space: Space) => Promise<T>,
): Promise<T> {
  return withGround(options, async (ground) => work(ground, await findSpace(ground, options)));
}

export async function findSpace(ground: Ground, options: Common): Promise<Space> {
  const spaces = await ground.room.store.directory.spaces();
  if (options.space !== undefined) {
    const named = spaces.find((s) => s.handle === options.space);
    if (named !== undefined) return named;
    throw new UsageError(
      `There is no space ${options.space} here. Make it with: lanternroom space add ${options.space}`,
    );
  }
  const [only, another] = spaces;
  if (only === undefined)
    throw new UsageError('There is no space yet. Make one with: lanternroom space add HANDLE');
  if (another !== undefined) {
    throw new UsageError(
      `There are several spaces (${spaces.map((s) => s.handle).join(', ')}). Choose one with --space.`,
    );
  }
  return only;
}

/** JSON for programs, sentences for people. */
export function print(options: Common, value: object, words: string): void {
  console.log(options.json ? JSON.stringify(value) : words);
}

export const OPERATOR = 'operator';
