import { Command, CommanderError } from 'commander';
import { UsageError } from '../config.ts';
import { isFault } from '../core/faults.ts';
import { VERSION } from '../http/package-files.ts';
import { addAgentCommands } from './agents.ts';
import { addKeepingCommands } from './keeping.ts';
import { addKeyCommands } from './keys.ts';
import { addMigrate } from './migrate.ts';
import { addPeopleCommands } from './people.ts';
import { addProducerCommands } from './producers.ts';
import { addServe } from './serve.ts';
import { addSpaceCommands } from './spaces.ts';

/** Runs one command. 0 done, 1 failed, 2 wrong usage; an error is one sentence on stderr that says what to do. */
export async function run(argv: readonly string[]): Promise<number> {
  let lost: NodeJS.ErrnoException | undefined;
  const onLost = (error: NodeJS.ErrnoException) => {
    lost = error;
  };
  process.stdout.on('error', onLost);
  const code = await program()
    .parseAsync(withCommand(argv.slice(2)), { from: 'user' })
    .then(() => 0, explain);
  await new Promise<void>((resolve) => process.stdout.write('', () => setImmediate(resolve)));
  process.stdout.off('error', onLost);
  return code === 0 ? explainLost(lost) : code;
}

/** The console does not report a full disk, but a key is shown only once. EPIPE is fine: that reader has read enough. */
function explainLost(lost: NodeJS.ErrnoException | undefined): number {
  if (lost === undefined || lost.code === 'EPIPE') return 0;
  console.error(
    `It is done, but its output could not be written (${lost.code}). A key or link that it would have shown can be made again.`,
  );
  return 1;
}

function program(): Command {
  const lanternroom = new Command('lanternroom')
    .description('The one calm place from which people oversee AI agents.')
    .version(VERSION)
    .exitOverride()
    .configureHelp({ sortSubcommands: false })
    .addHelpText(
      'after',
      `
Examples:
  lanternroom serve                          serve on http://127.0.0.1:8787, data in ./data
  lanternroom agent add research-agent-01    make an agent; prints its key once
  lanternroom person add ann@example.com     make a person who can decide
  lanternroom audit verify                   check that nobody has touched the record
  lanternroom backup lanternroom.backup      copy everything while the server runs

Every command works on the data of a running server. --json prints for programs.`,
    );
  addServe(lanternroom);
  addSpaceCommands(lanternroom);
  addAgentCommands(lanternroom);
  addPeopleCommands(lanternroom);
  addProducerCommands(lanternroom);
  addKeepingCommands(lanternroom);
  addMigrate(lanternroom);
  addKeyCommands(lanternroom);
  pointToOwnHelp(lanternroom);
  return lanternroom;
}

const OF_THE_PROGRAM = ['-h', '--help', '-V', '--version'];

/** Flags without a command belong to `serve`. Commander's default command would also be handed every mistyped command. */
function withCommand(args: readonly string[]): string[] {
  const [first] = args;
  const hasNone = first === undefined || (first.startsWith('-') && !OF_THE_PROGRAM.includes(first));
  return hasNone ? ['serve', ...args] : [...args];
}

/**
 * Reports wrong usage in one line: a similar command if there is one, and where to find the help of that very
 * command. Besides that, Commander writes only the help of a command without its subcommand to stderr: a line too.
 */
function pointToOwnHelp(command: Command, path = command.name()): void {
  const say = (line: string) => process.stderr.write(`${line} (${path} --help)\n`);
  const below = command.commands.map((one) => one.name());
  command.configureOutput({
    outputError: (text) => say(inOneLine(text)),
    writeErr: () => say(`Say what to do: ${path} ${below.join(' | ')}`),
  });
  for (const below of command.commands) pointToOwnHelp(below, `${path} ${below.name()}`);
}

function inOneLine(text: string): string {
  return text
    .trim()
    .replace(/^error: /, '')
    .replace(/^unknown command '(.*)'$/m, 'There is no command "$1"')
    .replace(/\n\((.*)\)$/, '. $1');
}

function explain(reason: unknown): number {
  if (reason instanceof CommanderError) {
    // Help and version also arrive here, with code 0. Commander has already written its own sentence.
    return reason.exitCode === 0 ? 0 : 2;
  }
  console.error(reason instanceof Error ? reason.message : String(reason));
  if (reason instanceof UsageError) return 2;
  return isFault(reason) && (reason.fault === 'invalid_field' || reason.fault === 'missing_field') ? 2 : 1;
}
