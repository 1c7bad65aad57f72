import type { JsonObject } from '@lanternroom/sdk/wake';
import { RunState } from '@openai/agents';
import { isObject } from '../call.ts';
import type { AnyAgent, State } from './state.ts';

/**
 * The same state with other arguments for some calls. It goes through the public JSON form, where a call occurs
 * several times (history, last response, what is to run): all of them change, so that tool and model see the same.
 * Calls of an agent that is another agent's tool are included.
 */
export async function withArguments<A extends AnyAgent>(
  agent: A,
  state: State<A>,
  edits: ReadonlyMap<string, JsonObject>,
): Promise<State<A>> {
  const text = JSON.stringify(rewrite(JSON.parse(state.toString()), edits));
  // The live context is kept: it may hold what JSON cannot, such as open connections.
  return RunState.fromStringWithContext<unknown, A>(agent, text, state._context, {
    contextStrategy: 'merge',
  });
}

function rewrite(value: unknown, edits: ReadonlyMap<string, JsonObject>): unknown {
  if (Array.isArray(value)) return value.map((inner) => rewrite(inner, edits));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, inner]) => [
    name,
    name === 'pendingAgentToolRuns' ? rewriteNested(inner, edits) : rewrite(inner, edits),
  ]);
  const copy: JsonObject = Object.fromEntries(entries);
  const args = value.type === 'function_call' ? edits.get(String(value.callId)) : undefined;
  return args === undefined ? copy : { ...copy, arguments: JSON.stringify(args) };
}

/** The runs of agents that are tools of this one: each is stored as the text of its own state. */
function rewriteNested(runs: unknown, edits: ReadonlyMap<string, JsonObject>): unknown {
  if (!isObject(runs)) return runs;
  const entries = Object.entries(runs).map(([name, text]) => [
    name,
    typeof text === 'string' ? JSON.stringify(rewrite(JSON.parse(text), edits)) : text,
  ]);
  return Object.fromEntries(entries);
}
