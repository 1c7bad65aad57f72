import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { placesBetween } from '../../core/deliveries/search/search.ts';
import type { Verdict } from '../../core/ledger/audit.ts';
import type { LedgerLine } from '../../core/ledger/ledger.ts';
import type { Tx } from '../../core/store.ts';
import { choice, cursorOf, type Query, single, wholeQuery } from '../../http/reading/fields.ts';
import type { Shell } from '../../http/shell.ts';
import { LARGE_BYTES } from '../../http/waiting/large-answers.ts';
import { Turns } from '../../http/waiting/turns.ts';
import { showDecision } from '../deliveries/detail.ts';
import { toMoment } from '../deliveries/list.ts';
import { sendExact } from '../exact.ts';
import { fromLine, VERDICTS } from '../mapping.ts';
import { caller } from '../person.ts';
import { turnOf } from '../turn.ts';
import { exportLines } from './export.ts';

const NO_END = Number.MAX_SAFE_INTEGER;

/** What has happened: decisions, and the ledger behind them. */
export function recordRoutes(app: FastifyInstance, shell: Shell): void {
  const { room, auditor } = shell;
  const turns = new Turns();
  app.get('/desk/history', async (request, reply) => {
    const query = request.query as Query;
    const limit = wholeQuery(query, 'limit', { least: 1, most: 200 }) ?? 50;
    const cursor = toLine(query);
    const [from, to] = [toMoment(query, 'from'), toMoment(query, 'to')];
    const asked = toHistoryAsked(query);
    const page = await room.store.read(caller(request).space, async (tx) => {
      const places = await placesBetween(tx, from, to);
      const before = Math.min(cursor, places.before);
      const decisions = await tx.decisions.history({ ...asked, from: places.from, before, limit });
      const items = await Promise.all(
        decisions.map(async (d) => {
          const delivery = await tx.deliveries.get(d.delivery);
          return {
            delivery_id: d.delivery,
            agent_id: d.agent,
            type: delivery?.type ?? null,
            headline: delivery?.headline ?? null,
            ...(await showDecision(room, tx, d)),
          };
        }),
      );
      return { decisions: items, next_cursor: nextCursor(decisions, limit) };
    });
    return sendExact(reply, page);
  });

  app.get('/desk/audit', async (request) => {
    const query = request.query as Query;
    const limit = wholeQuery(query, 'limit', { least: 1, most: 500 }) ?? 100;
    const before = toLine(query);
    const filter = toFilter(query);
    const { space } = caller(request);
    const page = await room.store.read(space, (tx) =>
      filter === null ? newest(tx, before, limit) : newestOf(tx, filter, { before, limit }),
    );
    const last = auditor.last(space);
    return { ...page, verified: last === null ? null : fromAuditVerdict(last) };
  });

  app.get('/desk/audit/verify', async (request) =>
    fromAuditVerdict(await auditor.verify(caller(request).space)),
  );

  app.get('/desk/audit/export', async (request, reply) => {
    const format = choice('format', single(request.query as Query, 'format') ?? 'ndjson', ['ndjson', 'csv']);
    const type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8';
    await turnOf(shell, { request, reply, bytes: LARGE_BYTES });
    return reply
      .header('content-type', type)
      .header('content-disposition', `attachment; filename="ledger.${format}"`)
      .send(Readable.from(exportLines(room, { space: caller(request).space, format, turns })));
  });
}

function fromAuditVerdict({ verifiedAt, ...verdict }: Verdict) {
  return { ...verdict, verified_at: verifiedAt };
}

/** The line of the ledger before which a page ends. */
function toLine(query: Query): number {
  if (cursorOf(query) === null) return NO_END;
  return wholeQuery(query, 'cursor', { least: 1, most: 999_999_999 }) ?? NO_END;
}

/** `standing=true` leaves out what was undone. */
function toHistoryAsked(query: Query) {
  const status = single(query, 'status');
  return {
    agent: single(query, 'agent') ?? undefined,
    verdict: status === null ? undefined : choice('status', status, VERDICTS),
    standing: choice('standing', single(query, 'standing') ?? 'false', ['true', 'false']) === 'true',
  };
}

type Filter = { action: string | undefined; subject: string | undefined };

function toFilter(query: Query): Filter | null {
  const action = single(query, 'action') ?? undefined;
  const subject = single(query, 'subject') ?? undefined;
  return action === undefined && subject === undefined ? null : { action, subject };
}

async function newest(tx: Tx, before: number, limit: number) {
  const lines = await tx.ledger.newest(before, limit);
  const next_cursor = nextCursor(lines, limit);
  const people = await namesIn(tx, lines);
  return { entries: lines.map(fromLine), people, next_cursor, looked_to: lines.at(-1)?.seq ?? 1 };
}

/** How many lines are searched for one page; a rare filter goes on with the cursor. */
const LOOKED_THROUGH = 20_000;

async function newestOf(tx: Tx, filter: Filter, page: { before: number; limit: number }) {
  const end = Math.min(page.before, ((await tx.heads.get('ledger'))?.n ?? 0) + 1);
  const from = Math.max(1, end - LOOKED_THROUGH);
  const lines = await tx.ledger.newestOf({ ...filter, from, before: end, limit: page.limit });
  const reached = lines.length === page.limit ? (lines.at(-1)?.seq ?? from) : from;
  const next_cursor = reached > 1 ? String(reached) : null;
  return { entries: lines.map(fromLine), people: await namesIn(tx, lines), next_cursor, looked_to: reached };
}

const PERSON = 'person:';

/** The names of the people in these lines. The lines hold only ids, because they must not change when a name does. */
async function namesIn(tx: Tx, lines: readonly LedgerLine[]): Promise<Record<string, string>> {
  const actors = new Set(lines.map(({ actor }) => actor).filter((actor) => actor.startsWith(PERSON)));
  const named: [string, string][] = [];
  for (const actor of actors) {
    const person = await tx.people.get(actor.slice(PERSON.length));
    if (person !== null) named.push([actor, person.name]);
  }
  return Object.fromEntries(named);
}

function nextCursor(rows: readonly { seq: number }[], limit: number): string | null {
  const last = rows.at(-1);
  return rows.length === limit && last !== undefined && last.seq > 1 ? String(last.seq) : null;
}
