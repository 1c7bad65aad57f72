import { LanternError } from '@lanternroom/sdk/wake';
import { RunState } from '@openai/agents';
import type { AnyAgent, State } from './state.ts';

export interface Seal {
  /** At least 32 characters, known to your server only. */
  readonly secret: string;
  /** The run that the state belongs to: a sealed state of another run is refused. */
  readonly runId: string;
}

/**
 * The state as text that can lie where others might change it, such as a browser: it carries approvals and arguments,
 * and the framework believes whatever it is given. Signed, not encrypted. On your own server keep it as it is.
 *
 * @example
 * await database.save(runId, await sealState(result.state, { secret, runId }));
 */
export async function sealState<A extends AnyAgent>(state: State<A>, seal: Seal): Promise<string> {
  const text = state.toString();
  const mark = await crypto.subtle.sign('HMAC', await keyOf(seal), bound(seal, text));
  return `${Buffer.from(mark).toString('base64url')}.${text}`;
}

/**
 * The state again, or an error when it was changed or belongs to another run.
 *
 * @example
 * const state = await openState(agent, await database.load(runId), { secret, runId });
 */
export async function openState<A extends AnyAgent>(agent: A, sealed: string, seal: Seal): Promise<State<A>> {
  const dot = sealed.indexOf('.');
  const text = sealed.slice(dot + 1);
  const mark = Buffer.from(sealed.slice(0, Math.max(dot, 0)), 'base64url');
  const isOurs = await crypto.subtle.verify('HMAC', await keyOf(seal), mark, bound(seal, text));
  if (!isOurs) {
    const message =
      'This run state was changed, or belongs to another run: do not go on with it, start the run again.';
    throw new LanternError('wrong_usage', message);
  }
  return RunState.fromString<unknown, A>(agent, text);
}

async function keyOf({ secret }: Seal): Promise<CryptoKey> {
  if (typeof secret !== 'string' || secret.length < 32) {
    throw new LanternError('wrong_usage', 'The secret of a sealed state needs at least 32 characters.');
  }
  const bytes = new TextEncoder().encode(secret);
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
}

/** As JSON, so that a run id cannot be extended into the state. */
function bound({ runId }: Seal, text: string) {
  return new TextEncoder().encode(JSON.stringify(['lanternroom.openai-agents.v1', runId, text]));
}
