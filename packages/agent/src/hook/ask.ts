import { faultOf, type Wake } from '@lanternroom/sdk/wake';
import { callKey, fingerprint, type ToolCall } from './call.ts';
import type { Claim, Claims } from './claims.ts';
import { HOSTS, type HostName } from './hosts.ts';
import { toQuestion } from './question.ts';
import { toVerdict, type Verdict } from './verdict.ts';

export interface Asking {
  readonly host: HostName;
  readonly call: ToolCall;
  readonly wake: Wake;
  readonly claims: Claims;
  /** How many milliseconds are left to wait. */
  readonly leftMs: () => number;
  readonly signal: AbortSignal;
}

/** Puts the call before a person, or continues where an earlier attempt was cut off. */
export async function askAboutCall(asking: Asking): Promise<Verdict> {
  const { call, claims, host } = asking;
  const print = fingerprint(host, call);
  await claims.prepare();
  const orphan = await claims.orphan(print);
  const verdict = orphan === null ? null : await goOn(asking, print, orphan);
  if (verdict !== null) return verdict;
  // The same call, asked about by two hooks at once, is one question with one answer.
  const key = await claims.keyFor(`lantern-hook-${callKey(host, call)}`);
  const claim: Claim = { key, callId: call.id, deliveryId: null };
  const asked = await ask(asking, print, claim);
  const answer = await answerTo(asking, asked.deliveryId);
  if (answer === 'open') return stillOpen(asked.deliveryId);
  await claims.take(print, asked);
  return settle(asking, asked, answer);
}

/** Null when we may not use the answer: it is gone, or another call has used it meanwhile. */
async function goOn(asking: Asking, print: string, orphan: Claim): Promise<Verdict | null> {
  const { claims, wake } = asking;
  await claims.keep(print, orphan);
  if (orphan.deliveryId !== null) await wake.adopt(orphan.deliveryId);
  const { deliveryId } = orphan;
  const asked = deliveryId === null ? await ask(asking, print, orphan) : { ...orphan, deliveryId };
  const answer = await answerTo(asking, asked.deliveryId).catch((error: unknown) => {
    if (faultOf(error) === 'not_found') return null;
    throw error;
  });
  if (answer === 'open') return stillOpen(asked.deliveryId);
  const isOurs = await claims.take(print, asked);
  return answer === null || !isOurs ? null : settle(asking, asked, answer);
}

type Asked = Claim & { readonly deliveryId: string };

/** The claim is on disk before the question is sent, so that no crash can cause a second question. */
async function ask(
  { claims, wake, call, host, leftMs, signal }: Asking,
  print: string,
  claim: Claim,
): Promise<Asked> {
  await claims.keep(print, claim);
  const question = toQuestion({ ...call, id: claim.callId }, HOSTS[host]);
  const withinMs = Math.max(leftMs(), 0);
  const { deliveryId } = await wake.deliver(question, { idempotencyKey: claim.key, withinMs, signal });
  const asked = { ...claim, deliveryId };
  await claims.keep(print, asked);
  return asked;
}

async function answerTo(
  { wake, call, host, leftMs, signal }: Asking,
  deliveryId: string,
): Promise<Verdict | 'open'> {
  const answer = await wake.waitFor(deliveryId, { timeoutMs: Math.max(leftMs(), 0), signal });
  return answer.status === 'timed_out' ? 'open' : toVerdict(answer, call, HOSTS[host]);
}

/** An edited input that must come back as a new call is remembered as answered. */
async function settle({ claims, call, host }: Asking, asked: Asked, verdict: Verdict): Promise<Verdict> {
  if (verdict.kind === 'again') {
    await claims.keep(fingerprint(host, { ...call, input: verdict.input }), asked);
  }
  return verdict;
}

function stillOpen(deliveryId: string): Verdict {
  const reason = `Nobody has answered yet. The question stays on the desk (delivery ${deliveryId}). Do other work meanwhile; calling the tool again with the same input goes on waiting for the same answer.`;
  return { kind: 'deny', reason };
}
