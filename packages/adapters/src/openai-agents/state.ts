import type { Agent, RunState } from '@openai/agents';

// The framework's own bounds: an agent, and a run, of any context and output.
// biome-ignore lint/suspicious/noExplicitAny: see above
export type AnyAgent = Agent<any, any>;
// biome-ignore lint/suspicious/noExplicitAny: see above
export type State<A extends AnyAgent> = RunState<any, A>;
