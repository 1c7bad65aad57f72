/**
 * The coding agents and how their hooks speak. Denials are the same everywhere, exit code 2 with the reason on
 * standard error; what differs is the event, the clock, and how a call that may run is let through.
 */
export interface Host {
  readonly title: string;
  /** Shown on the desk as the provider. */
  readonly provider: string;
  /** The event that comes before a tool runs. */
  readonly event: string;
  /** How long the host waits for a hook when its configuration does not say. */
  readonly timeoutSeconds: number;
  /** Tools that pass without a question: they only read, or they talk to the person at the terminal. */
  readonly passes: readonly string[];
  /** Whether the host will run exactly `edited` when it is handed over. */
  readonly takes: (edited: Input, given: Input) => boolean;
  /** Standard output for a call that may run. */
  readonly letThrough: (allowed: Allowed) => string;
}

export type Input = Readonly<Record<string, unknown>>;

export interface Allowed {
  /** The input as the person changed it; null when it stays as it is. */
  readonly input: Input | null;
  readonly feedback: string | null;
}

// Asking the person must not itself need the person's approval. Sending to other agents is left out on purpose.
const OUR_TOOLS = ['wake_*', 'akep_replay_events', 'akep_ack_event'].flatMap((tool) => [
  `mcp__lanternroom__${tool}`,
  `mcp__plugin_lanternroom_lanternroom__${tool}`,
  `mcp_lanternroom_${tool}`,
]);

const claude: Host = {
  title: 'Claude Code',
  provider: 'claude',
  event: 'PreToolUse',
  timeoutSeconds: 600,
  passes: [
    ...['Read', 'Glob', 'Grep', 'LS', 'LSP', 'NotebookRead', 'BashOutput', 'TaskOutput', 'ToolSearch'],
    ...['TodoRead', 'TodoWrite', 'TaskCreate', 'TaskGet', 'TaskList', 'TaskUpdate'],
    ...['AskUserQuestion', 'EnterPlanMode', 'ExitPlanMode'],
    ...OUR_TOOLS,
  ],
  takes: () => true,
  letThrough: ({ input, feedback }) =>
    JSON.stringify({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'allow',
        permissionDecisionReason: 'A person approved this call on the desk.',
        ...(input === null ? {} : { updatedInput: input }),
        ...(feedback === null ? {} : { additionalContext: `The person said: ${feedback}` }),
      },
    }),
};

const codex: Host = {
  title: 'Codex',
  provider: 'openai',
  event: 'PreToolUse',
  timeoutSeconds: 600,
  passes: ['update_plan', 'view_image', ...OUR_TOOLS],
  // Versions that do not know `updatedInput` report an error and run the original call: never rely on it.
  takes: () => false,
  // Likewise for "allow". Every version takes silence for "go on".
  letThrough: () => '',
};

const gemini: Host = {
  title: 'Gemini CLI',
  provider: 'gemini',
  event: 'BeforeTool',
  timeoutSeconds: 60,
  passes: [
    ...['read_file', 'read_many_files', 'list_directory', 'glob', 'search_file_content', 'grep_search'],
    ...['write_todos', 'ask_user', 'enter_plan_mode', 'exit_plan_mode'],
    ...OUR_TOOLS,
  ],
  // The edited input is merged into the original one, so nothing can be removed.
  takes: (edited, given) => Object.keys(given).every((key) => key in edited),
  letThrough: ({ input, feedback }) =>
    JSON.stringify({
      decision: 'allow',
      ...(feedback === null ? {} : { systemMessage: `The person said: ${feedback}` }),
      ...(input === null ? {} : { hookSpecificOutput: { hookEventName: 'BeforeTool', tool_input: input } }),
    }),
};

export const HOSTS = { claude, codex, gemini };
export type HostName = keyof typeof HOSTS;

export function isHost(name: string | undefined): name is HostName {
  return name !== undefined && Object.hasOwn(HOSTS, name);
}
