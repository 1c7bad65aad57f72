import type { Checkpoint, LedgerLine } from '../../core/ledger/ledger.ts';
import type { LedgerRows } from '../../core/store.ts';
import { insertOf, type Session, statement } from '../statement.ts';
import type { Tables } from '../tables.ts';

const insert = insertOf('ledger', ['space_id', 'seq', 'at', 'actor', 'action', 'subject', 'data', 'hash']);

const page = statement<{ space: string; after: number; limit: number }>()((db, p) =>
  db
    .selectFrom('ledger')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('seq', '>', p.after)
    .orderBy('seq')
    .limit(p.limit),
);

const newest = statement<{ space: string; before: number; limit: number }>()((db, p) =>
  db
    .selectFrom('ledger')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('seq', '<', p.before)
    .orderBy('seq', 'desc')
    .limit(p.limit),
);

type Filtered = {
  space: string;
  action: string;
  groupFrom: string;
  groupTo: string;
  subject: string;
  from: number;
  before: number;
  limit: number;
};

/** Empty filters match anything. No index of its own, which every write would pay for: the range keeps the scan short. */
const newestOf = statement<Filtered>()((db, p) =>
  db
    .selectFrom('ledger')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('seq', '>=', p.from)
    .where('seq', '<', p.before)
    .where((eb) =>
      eb.or([
        eb(eb.val(p.action), '=', ''),
        eb('action', '=', p.action),
        // "decision." up to "decision/": the whole group, without a LIKE pattern that a caller could influence.
        eb.and([eb('action', '>', p.groupFrom), eb('action', '<', p.groupTo)]),
      ]),
    )
    .where((eb) => eb.or([eb(eb.val(p.subject), '=', ''), eb('subject', '=', p.subject)]))
    .orderBy('seq', 'desc')
    .limit(p.limit),
);

const atSeq = statement<{ space: string; seq: number }>()((db, p) =>
  db.selectFrom('ledger').select('at').where('space_id', '=', p.space).where('seq', '=', p.seq),
);

const insertCheckpoint = insertOf('checkpoints', ['space_id', 'seq', 'hash', 'at', 'signature']);

const setSignature = statement<{ space: string; seq: number; signature: string }>()((db, p) =>
  db
    .updateTable('checkpoints')
    .set({ signature: p.signature })
    .where('space_id', '=', p.space)
    .where('seq', '=', p.seq),
);

const checkpoints = statement<{ space: string }>()((db, p) =>
  db.selectFrom('checkpoints').selectAll().where('space_id', '=', p.space).orderBy('seq'),
);

const lastCheckpoint = statement<{ space: string }>()((db, p) =>
  db.selectFrom('checkpoints').selectAll().where('space_id', '=', p.space).orderBy('seq', 'desc').limit(1),
);

export function ledgerRows(session: Session, space: string): LedgerRows {
  return {
    insert: async ({ seq, at, actor, action, subject, data, hash }) => {
      // Member by member: spreading an object costs as much as binding the values.
      await session.run(insert, { space_id: space, seq, at, actor, action, subject, data, hash });
    },
    page: async (after, limit) => (await session.all(page, { space, after, limit })).map(toLine),
    newest: async (before, limit) => (await session.all(newest, { space, before, limit })).map(toLine),
    newestOf: async ({ action = '', subject = '', ...range }) =>
      (
        await session.all(newestOf, {
          space,
          action,
          groupFrom: `${action}.`,
          groupTo: `${action}/`,
          subject,
          ...range,
        })
      ).map(toLine),
    at: async (seq) => (await session.one(atSeq, { space, seq }))?.at ?? null,
    insertCheckpoint: async ({ space: _, ...c }) =>
      void (await session.run(insertCheckpoint, { ...c, space_id: space })),
    setSignature: async (seq, signature) => void (await session.run(setSignature, { space, seq, signature })),
    checkpoints: async () => (await session.all(checkpoints, { space })).map(toCheckpoint),
    lastCheckpoint: async () => {
      const row = await session.one(lastCheckpoint, { space });
      return row === undefined ? null : toCheckpoint(row);
    },
  };
}

function toLine({ space_id, seq, at, actor, action, subject, data, hash }: Tables['ledger']): LedgerLine {
  return { space: space_id, seq, at, actor, action, subject, data, hash };
}

function toCheckpoint({ space_id, seq, hash, at, signature }: Tables['checkpoints']): Checkpoint {
  return { space: space_id, seq, hash, at, signature };
}
