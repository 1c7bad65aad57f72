import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import type { ConnectFlags } from './commands/connect.ts';
import type { DeliverFlags } from './commands/deliver.ts';
import type { DoctorFlags } from './commands/doctor.ts';
import type { ListenFlags } from './commands/listen.ts';
import type { LoginFlags } from './commands/login.ts';
import type { ResponsesFlags } from './commands/responses.ts';
import type { WaitFlags } from './commands/wait.ts';
import {
  CONNECT_HELP,
  DELIVER_HELP,
  DOCTOR_HELP,
  INSTALL_HELP,
  LANTERN_HELP,
  LISTEN_HELP,
  LOGIN_HELP,
  MCP_HELP,
  RESPONSES_HELP,
  WAIT_HELP,
} from './help.ts';
import type { InstallFlags } from './install/install.ts';
import { ownVersion } from './version.ts';
import type { World } from './world.ts';

// Spelled out and not imported, so that help and wrong usage load almost nothing.
const TYPES = ['update', 'question', 'output', 'alert'];
const HOST_NAMES = ['claude', 'codex', 'gemini'];
const STATUSES = ['pending', 'approved', 'rejected', 'redirected'];

/** The command line. Each command loads its own code when it is called, so that starting stays fast. */
export function createProgram(world: World, ended: (code: number) => void): Command {
  const program = new Command('lantern')
    .description('Put work before a person, and get the answer.')
    .version(ownVersion())
    .addHelpText('after', LANTERN_HELP)
    .exitOverride()
    .configureOutput({ writeOut: world.out, writeErr: world.err });
  addDeliver(program, world, ended);
  addWait(program, world, ended);
  addResponses(program, world, ended);
  addListen(program, world, ended);
  addConnect(program, world, ended);
  addSetUp(program, world, ended);
  addHosts(program, world, ended);
  pointToOwnHelp(program);
  return program;
}

/**
 * Reports wrong usage in one line: a similar command if there is one, and where to find the help of that very
 * command.
 */
function pointToOwnHelp(command: Command, path = command.name()): void {
  command.configureOutput({
    outputError: (text, write) => write(`lantern: ${inOneLine(text)} (${path} --help)\n`),
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

function addDeliver(program: Command, world: World, ended: (code: number) => void): void {
  program
    .command('deliver')
    .description('deliver an update, a question, an output or an alert')
    .addOption(new Option('-t, --type <type>', 'what it is').choices(TYPES).makeOptionMandatory())
    .requiredOption('-H, --headline <text>', 'title, at most 120 characters: lead with what was accomplished')
    .requiredOption('-s, --summary <text>', 'one plain sentence, at most 280 characters')
    .option(
      '-d, --details <text>',
      'full content: text, @file, or - for standard input; a JSON object stays one',
    )
    .option(
      '--timeout <seconds>',
      'after this the agent goes on by its own judgement (60 to 604800)',
      wholeNumber,
    )
    .option('--callback <url>', 'https address that gets the answer, signed')
    .option('--wait [seconds]', 'wait for the answer, and end like "lantern wait"', wholeNumber)
    .option('--idempotency-key <key>', 'the same key and content are delivered once')
    .option('--task-id <id>', 'groups deliveries of one task')
    .option('--thread-id <id>', 'groups deliveries of one conversation')
    .option('--interrupt-id <id>', 'names the pause that the answer ends')
    .option('--revises <delivery-id>', 'replaces an earlier delivery')
    .option('--dedupe-key <key>', 'at most one pending delivery with this key')
    .option('--agent-id <id>', 'the agent (WAKE_AGENT_ID; otherwise the server knows it by the key)')
    .option('--provider <name>', 'shown to the person: claude, openai, … (WAKE_PROVIDER)')
    .option('--json', 'print JSON')
    .addHelpText('after', DELIVER_HELP)
    .action(async (flags: DeliverFlags) => {
      const { deliver } = await import('./commands/deliver.ts');
      ended(await deliver(flags, world));
    });
}

function addWait(program: Command, world: World, ended: (code: number) => void): void {
  program
    .command('wait')
    .description('wait for the answer to one delivery')
    .argument('<delivery-id>')
    .option(
      '--timeout <seconds>',
      "how long from now (otherwise the delivery's own timeout, or an hour)",
      wholeNumber,
    )
    .option('--assume <text>', 'write this to the log when nobody answers in time, before going on by it')
    .option('--json', 'print JSON')
    .addHelpText('after', WAIT_HELP)
    .action(async (deliveryId: string, flags: WaitFlags) => {
      const { wait } = await import('./commands/wait.ts');
      ended(await wait(deliveryId, flags, world));
    });
}

function addResponses(program: Command, world: World, ended: (code: number) => void): void {
  program
    .command('responses')
    .description('list answers, oldest change first')
    .option('--since <time>', 'only what changed after this (resume_from of an earlier --json line)')
    .option(
      '--status <list>',
      `comma-separated: ${STATUSES.join(', ')} (otherwise all but pending)`,
      statuses,
    )
    .option('--limit <count>', 'at most this many', wholeNumber)
    .option('-f, --follow', 'keep running and print answers as they come')
    .option('--all', 'also answers to deliveries that were not sent from here')
    .option('--json', 'print JSON lines')
    .addHelpText('after', RESPONSES_HELP)
    .action(async (flags: ResponsesFlags) => {
      const { responses } = await import('./commands/responses.ts');
      ended(await responses(flags, world));
    });
}

function addListen(program: Command, world: World, ended: (code: number) => void): void {
  program
    .command('listen')
    .description("hand each event of the agent's inbox, and each resume, to a command")
    .option('--exec <command>', 'run this in the shell for each; otherwise they are printed')
    .option('--once', 'take what is there, then end')
    .option('--types <list>', 'comma-separated event types; others are skipped', commaList)
    .option('--cursor-file <path>', 'where to remember the place (otherwise one per agent in ~/.lantern)')
    .option('--retries <count>', 'how often a command that fails is tried again (5)', count)
    .option('--json', 'print JSON lines when there is no --exec')
    .addHelpText('after', LISTEN_HELP)
    .action(async (flags: ListenFlags) => {
      const { listen } = await import('./commands/listen.ts');
      ended(await listen(flags, world));
    });
}

function addConnect(program: Command, world: World, ended: (code: number) => void): void {
  program
    .command('connect')
    .description('be the agent: run a command for each task that is sent to its public address')
    .requiredOption('--exec <command>', 'run this in the shell for each message')
    .option('--concurrency <count>', 'how many at a time (4); one at a time within a context', wholeNumber)
    .option('--timeout <seconds>', 'stop a command that takes longer, and fail its task', wholeNumber)
    .option('--grace <seconds>', 'between asking a command to end and killing it (10)', count)
    .option('--once', 'take what is waiting, then end (for cron)')
    .option('--progress', 'read lines of output as they come (see below)')
    .option('--state <folder>', 'where to remember what was run (otherwise one per agent in ~/.lantern)')
    .addOption(new Option('-q, --quiet', 'say only what goes wrong').conflicts('verbose'))
    .option('-v, --verbose', "also every try to connect, and the commands' standard error")
    .addHelpText('after', CONNECT_HELP)
    .action(async (flags: ConnectFlags) => {
      const { connect } = await import('./commands/connect.ts');
      ended(await connect(flags, world));
    });
}

function addSetUp(program: Command, world: World, ended: (code: number) => void): void {
  program
    .command('login')
    .description('keep address and key for later commands; the environment wins over them')
    .option('--url <url>', 'the server (LANTERN_URL, or http://127.0.0.1:8787)')
    .option('--remove', 'forget them again')
    .addHelpText('after', LOGIN_HELP)
    .action(async (flags: LoginFlags) => {
      const { login } = await import('./commands/login.ts');
      ended(await login(flags, world));
    });
  program
    .command('doctor')
    .description('check server, key, clock and versions, and say what to do')
    .option('--json', 'print JSON')
    .addHelpText('after', DOCTOR_HELP)
    .action(async (flags: DoctorFlags) => {
      const { doctor } = await import('./commands/doctor.ts');
      ended(await doctor(flags, world));
    });
}

function addHosts(program: Command, world: World, ended: (code: number) => void): void {
  program
    .command('mcp')
    .description('serve the tools of this agent over MCP, on standard input and output')
    .addHelpText('after', MCP_HELP)
    .action(async () => {
      const { mcp } = await import('./commands/mcp.ts');
      ended(await mcp(world));
    });
  // Started from bin/lantern.js, before this parser; listed here for the help.
  program
    .command('hook')
    .description('ask a person before a tool runs; started by a coding agent (lantern hook --help)');
  program
    .command('install')
    .description('set up a coding agent to ask a person before its tools run')
    .addArgument(new Argument('<host>', 'which one').choices(HOST_NAMES))
    .option('--project', 'for the project in this folder, not for you everywhere')
    .option('--timeout <seconds>', 'how long to wait for an answer at a time (3600)', wholeNumber)
    .option('--ask <tools>', 'only these ask, comma-separated, * for any characters')
    .option('--pass <tools>', 'these pass too; otherwise all ask but those that only look')
    .option('--remove', 'remove it again')
    .option('--yes', 'do not ask')
    .option('--dry-run', 'show what would be written, and change nothing')
    .addHelpText('after', INSTALL_HELP)
    .action(async (host: 'claude' | 'codex' | 'gemini', flags: InstallFlags) => {
      const { install } = await import('./install/install.ts');
      ended(await install(host, flags, world));
    });
}

function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text);
  throw new InvalidArgumentError('Give a whole number above 0.');
}

function count(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a whole number.');
}

function commaList(text: string): string[] {
  const list = text.split(',').map((one) => one.trim());
  if (list.every((one) => one !== '')) return list;
  throw new InvalidArgumentError('Separate the types by commas.');
}

function statuses(text: string): string[] {
  const list = text.split(',').map((status) => status.trim());
  if (list.every((status) => STATUSES.includes(status))) return list;
  throw new InvalidArgumentError(`Use ${STATUSES.join(', ')}.`);
}
