import { LanternError } from '../faults.ts';
import { isRecord, textOf } from '../json.ts';
import { patiently } from '../patience.ts';
import { type Checked, demandResponse, toAnswer } from './answer.ts';
import type { CallOptions, Parts } from './parts.ts';
import type { ResponseBody, ResponseStatus } from './wire.ts';

/** Which answers, from where, and whether to go on. */
export interface SweepOptions extends CallOptions {
  /** Start after this point: `resumeFrom` of an earlier item. */
  readonly since?: string | null | undefined;
  /** Answers only, unless told otherwise. */
  readonly statuses?: readonly ResponseStatus[] | undefined;
  /** Page size, 1…200. */
  readonly limit?: number | undefined;
  /**
   * Go on for ever, looking again every `pollMs` (10 s), until the signal fires or the loop is left. A restart of the
   * server is waited for.
   */
  readonly follow?: boolean | undefined;
  readonly pollMs?: number | undefined;
  /** Asked about answers to deliveries this client did not submit; they are left out unless it says `adopt`. */
  readonly onForeign?: ((deliveryId: string) => 'adopt' | 'refuse') | undefined;
}

/** One answer of a sweep. A later sweep with `since: resumeFrom` misses nothing that follows it. */
export type Swept = Checked & { readonly resumeFrom: string | null };

const ANSWERED: readonly ResponseStatus[] = ['approved', 'rejected', 'redirected'];
const DEFAULT_POLL_MS = 10_000;

interface Page {
  readonly items: readonly ResponseBody[];
  readonly hasMore: boolean;
  readonly nextSince: string | null;
}

export async function* sweep(
  parts: Parts,
  options: SweepOptions,
  agentId: string | null,
): AsyncGenerator<Swept, void, void> {
  let since = options.since ?? null;
  // The first look does not retry: a wrong address is reported at once.
  for (let isPatient = false; ; isPatient = options.follow === true) {
    const read = () => readPage(parts, pathOf(options, since, agentId), options.signal);
    const page = await (isPatient ? patiently(parts, options, read) : read());
    const next = page.items.length > 0 ? page.nextSince : since;
    yield* itemsOf(parts, page, { since, next, onForeign: options.onForeign });
    if (page.hasMore && next === since) throw stuck();
    since = next;
    if (page.hasMore) continue;
    if (!options.follow) return;
    await parts.clock.sleep(options.pollMs ?? DEFAULT_POLL_MS, options.signal);
  }
}

async function* itemsOf(
  parts: Parts,
  page: Page,
  at: { since: string | null; next: string | null; onForeign: SweepOptions['onForeign'] },
): AsyncGenerator<Swept, void, void> {
  const ours: ResponseBody[] = [];
  for (const body of page.items) {
    if (await isOurs(parts, body.delivery_id, at.onForeign)) ours.push(body);
  }
  for (const [index, body] of ours.entries()) {
    await parts.journal.recordAnswer(body);
    // A cursor exists per page: until the last item is handled, only the start of the page is safe to resume from.
    const resumeFrom = index === ours.length - 1 ? at.next : at.since;
    yield { ...toAnswer(body), resumeFrom };
  }
}

async function isOurs(
  parts: Parts,
  deliveryId: string,
  onForeign: SweepOptions['onForeign'],
): Promise<boolean> {
  if ((await parts.journal.find(deliveryId)) !== null) return true;
  if (onForeign?.(deliveryId) === 'adopt') {
    await parts.journal.keep('adopted', deliveryId, { timeout_seconds: null });
    return true;
  }
  // Skipped instead of thrown: one foreign delivery must not keep the loop from the answers after it.
  await parts.journal.record('refused', { delivery_id: deliveryId });
  return false;
}

function pathOf(options: SweepOptions, since: string | null, agentId: string | null): string {
  const query = new URLSearchParams({ status: (options.statuses ?? ANSWERED).join(',') });
  if (agentId !== null) query.set('agent_id', agentId);
  if (since !== null) query.set('since', since);
  if (options.limit !== undefined) query.set('limit', String(options.limit));
  return `/wake/v1/responses?${query}`;
}

async function readPage(parts: Parts, path: string, signal: AbortSignal | undefined): Promise<Page> {
  const body = await parts.http.send({ method: 'GET', path }, signal);
  if (!isRecord(body) || !Array.isArray(body.deliveries)) {
    const message =
      'The server answered a sweep with something else: check the address and its WAKE version.';
    throw new LanternError('bad_reply', message);
  }
  const items = body.deliveries.map(demandResponse);
  return { items, hasMore: body.has_more === true, nextSince: textOf(body.next_since) };
}

function stuck(): LanternError {
  const message =
    'The server says there is more but gives no new "next_since", so the sweep cannot go on: report it.';
  return new LanternError('bad_reply', message);
}
