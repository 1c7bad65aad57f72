import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { cleanEnvironment, type Ended, type Environment, LANTERN } from './command.ts';

/** A program that is spoken to over standard input, as a coding agent speaks to its hook. */
export class Spoken {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly ended: Promise<Ended & { signal: NodeJS.Signals | null }>;

  constructor(argv: readonly string[], env: Environment) {
    const [file = '', ...args] = argv;
    this.process = spawn(file, args, { env: cleanEnvironment(env), stdio: 'pipe' });
    let [stdout, stderr] = ['', ''];
    this.process.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    this.process.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    // A program that ends before it has read everything closes the pipe; what it said is looked at instead.
    this.process.stdin.on('error', () => undefined);
    this.ended = new Promise((resolve, reject) => {
      this.process.once('error', reject);
      this.process.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
    });
    onTestFinished(async () => {
      this.process.kill('SIGKILL');
      await this.ended;
    });
  }
}

/** `lantern hook …` with this on its standard input. */
export function hook(args: readonly string[], input: unknown, env: Environment): Spoken {
  const spoken = new Spoken([process.execPath, LANTERN, 'hook', ...args], env);
  spoken.process.stdin.end(typeof input === 'string' ? input : JSON.stringify(input));
  return spoken;
}

let calls = 0;

/** A call as Claude Code and Codex put it. */
export function toolCall(over: Record<string, unknown> = {}): Record<string, unknown> {
  calls += 1;
  return {
    session_id: 'session-1',
    transcript_path: '/tmp/transcript.jsonl',
    cwd: '/srv/shop',
    permission_mode: 'default',
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'npm publish', description: 'Publish the package' },
    tool_use_id: `toolu_${calls}`,
    ...over,
  };
}

/** The same as Gemini CLI puts it, which gives its calls no id. */
export function geminiCall(over: Record<string, unknown> = {}): Record<string, unknown> {
  const { tool_use_id, permission_mode, ...call } = toolCall(over);
  return {
    ...call,
    hook_event_name: 'BeforeTool',
    timestamp: '2026-11-15T12:00:00.000Z',
    tool_name: 'run_shell_command',
    ...over,
  };
}
