import { join } from 'node:path';
import { homeOf } from '../home.ts';
import { HOSTS, type HostName } from '../hook/hosts.ts';
import type { World } from '../world.ts';

export interface HookWish {
  readonly host: HostName;
  /** The command that starts this program. */
  readonly program: string;
  readonly timeoutSeconds: number;
  readonly ask: string | undefined;
  readonly pass: string | undefined;
}

/** Whose settings: the user's own, or those of the project in a folder. */
export type Scope = 'user' | { readonly project: string };

/** The file that a host reads its hooks from. */
export function fileOf(host: HostName, scope: Scope, { env }: Pick<World, 'env'>): string {
  const home = homeOf(env);
  const own = { claude: '.claude', codex: '.codex', gemini: '.gemini' }[host];
  const moved = { claude: env.CLAUDE_CONFIG_DIR, codex: env.CODEX_HOME, gemini: undefined }[host]?.trim();
  const base = scope === 'user' ? moved || join(home, own) : join(scope.project, own);
  return join(base, host === 'codex' ? 'hooks.json' : 'settings.json');
}

/** One entry for the event before a tool runs, for every tool: the hook decides which of them ask. */
export function entryOf(wish: HookWish): Record<string, unknown> {
  const { host, timeoutSeconds } = wish;
  const command = { type: 'command', command: commandOf(wish) };
  if (host === 'gemini') {
    return { hooks: [{ ...command, name: 'lanternroom', timeout: timeoutSeconds * 1_000 }] };
  }
  // Claude Code 2.1.295 and newer: even a hook that cannot be started keeps the tool from running.
  const onFailure = host === 'claude' ? { onFailure: 'block' } : {};
  return { hooks: [{ ...command, timeout: timeoutSeconds, ...onFailure }] };
}

export function eventOf(host: HostName): string {
  return HOSTS[host].event;
}

function commandOf({ host, program, timeoutSeconds, ask, pass }: HookWish): string {
  const filter = [
    ask === undefined ? [] : ['--ask', quoted(ask)],
    pass === undefined ? [] : ['--pass', quoted(pass)],
  ];
  const parts = [program, 'hook', host, '--host-timeout', String(timeoutSeconds), ...filter.flat()];
  // A missing or killed program ends with codes that let a tool run; this turns them into a no.
  return `${parts.join(' ')}${process.platform === 'win32' ? '' : ' || exit 2'}`;
}

/** Recognised by what it runs, however it was installed. */
export function isOurs(handler: unknown, host: HostName): boolean {
  if (typeof handler !== 'object' || handler === null || !('command' in handler)) return false;
  const pattern = new RegExp(`(^|[\\s"'/\\\\])lantern(\\.js)?["']?\\s+hook\\s+${host}(\\s|$)`);
  return typeof handler.command === 'string' && pattern.test(handler.command);
}

function quoted(text: string): string {
  return /^[\w*,.-]+$/.test(text) && !text.includes('*') ? text : `'${text.replaceAll("'", '')}'`;
}
