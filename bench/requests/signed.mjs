import { createHmac } from 'node:crypto';

/** Room for a counter in an event's id: every request is another event, and so signed anew. */
export const PLACE = '000000000000';

/** About a kilobyte each: what a tool that has finished would report. */
export function events(count) {
  return Array.from({ length: count }, (_, i) => ({
    spec: 'akep.v1',
    event_id: `evt_bench_${process.pid}_${PLACE}`,
    event_type: 'tool.completed',
    occurred_at: '2026-11-15T09:00:00Z',
    source: { producer_id: 'prod_environment', name: 'exporter', type: 'tool' },
    subject: { task_id: `task-${i}`, thread_id: `thread-${i % 16}` },
    knowledge: {
      kind: 'tool_result',
      content_type: 'application/json',
      summary: `The export of customer ${i} has finished with 1 200 rows and no warnings.`,
      confidence: 0.93,
      content: {
        customer: { number: 100_000 + i, name: `Customer ${i}`, language: 'en', since: '2019-04-02' },
        rows: 1200,
        files: [`exports/2026-11/${i}/orders.csv`, `exports/2026-11/${i}/items.csv`],
        log:
          'Read the orders of the quarter, joined them with their items and addresses, checked totals against the ledger, ' +
          'wrote two files in the format that the accountant asked for, and compared them with those of the last quarter. ' +
          'Nothing was left out. Eleven orders were counted in the month in which they were paid and not in which they came.',
        checked: ['totals', 'dates', 'names', 'currencies'],
      },
    },
    routing: { resume_policy: 'append_only', priority: 'normal' },
  }));
}

let counter = 0;

/** One maker of bytes for each body; the signature is of this very second. */
export function signedRequests({ path, signed, bodies }) {
  return bodies.map((text) => {
    const body = Buffer.from(text.replace(/evt_bench_\d+_/, `evt_bench_${process.pid}_`));
    const at = body.indexOf(PLACE);
    const start = body.lastIndexOf('"', at) + 1;
    return { sign: () => sign({ path, signed, body: Buffer.from(body), at, start }) };
  });
}

function sign({ path, signed, body, at, start }) {
  body.write(String(++counter).padStart(PLACE.length, '0'), at, 'latin1');
  const id = body.latin1Slice(start, at + PLACE.length);
  const seconds = Math.floor(Date.now() / 1000);
  const mac = createHmac('sha256', signed.secret).update(`${id}.${seconds}.`).update(body).digest('base64');
  const keyId = signed.keyId === undefined ? '' : `webhook-signature-key-id: ${signed.keyId}\r\n`;
  const head =
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nwebhook-id: ${id}\r\n` +
    `webhook-timestamp: ${seconds}\r\nwebhook-signature: v1,${mac}\r\n${keyId}content-length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}
