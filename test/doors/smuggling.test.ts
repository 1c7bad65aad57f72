import { beforeEach, describe, expect, test } from 'vitest';
import { Raw, requestText } from '../support/raw.ts';
import { AGENT, sharedServer } from '../support/server.ts';
import { sampleDelivery } from '../support/wake.ts';

const BODY = JSON.stringify(sampleDelivery());
const AUTHORISED = [
  'Host: localhost',
  `Authorization: Bearer ${AGENT.key}`,
  'Content-Type: application/json',
];

/** What an attacker would like to slip in behind somebody else's request. */
const SMUGGLED = requestText(
  'POST /wake/v1/deliver HTTP/1.1',
  [...AUTHORISED, `Content-Length: ${BODY.length}`],
  BODY,
);

const deliver = (headers: readonly string[], body: string): string =>
  requestText('POST /wake/v1/deliver HTTP/1.1', [...AUTHORISED, ...headers], body);
const chunked = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;

/** Two readers of one of these could disagree about where the request ends. */
const AMBIGUOUS: Record<string, string> = {
  'length and chunks': deliver(['Content-Length: 5', 'Transfer-Encoding: chunked'], `0\r\n\r\n${SMUGGLED}`),
  'chunks and length': deliver(
    ['Transfer-Encoding: chunked', `Content-Length: ${BODY.length}`],
    chunked(BODY),
  ),
  'two lengths': deliver(['Content-Length: 0', `Content-Length: ${BODY.length}`], BODY),
  'two equal lengths': deliver(Array(2).fill(`Content-Length: ${BODY.length}`), BODY),
  'a list of lengths': deliver([`Content-Length: 0, ${BODY.length}`], BODY),
  'a signed length': deliver([`Content-Length: +${BODY.length}`], BODY),
  'a hexadecimal length': deliver(['Content-Length: 0x10'], BODY),
  'a negative length': deliver(['Content-Length: -1'], BODY),
  'a length that overflows': deliver(['Content-Length: 18446744073709551617'], BODY),
  'an unknown coding': deliver(['Transfer-Encoding: xchunked'], chunked(BODY)),
  'chunks that are not last': deliver(['Transfer-Encoding: chunked, identity'], chunked(BODY)),
  'chunks, twice': deliver(['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], chunked(BODY)),
  'a space before the colon': deliver(['Transfer-Encoding : chunked'], chunked(BODY)),
  'a folded header': deliver(['X-A: b', ' Transfer-Encoding: chunked'], chunked(BODY)),
  'a folded coding': deliver(['Transfer-Encoding:\r\n chunked'], chunked(BODY)),
  'a bare line feed': deliver([`Content-Length: ${BODY.length}`], BODY).replaceAll('\r\n', '\n'),
  'a bare line feed in a header': deliver(['X-A: b\nTransfer-Encoding: chunked'], chunked(BODY)),
  'a bare carriage return': deliver(['X-A: b\rTransfer-Encoding: chunked'], chunked(BODY)),
  'a null in a header': deliver(['X-A: b\0c', `Content-Length: ${BODY.length}`], BODY),
  'a bad chunk size': deliver(['Transfer-Encoding: chunked'], `zz\r\n${BODY}\r\n0\r\n\r\n`),
  'a chunk size that overflows': deliver(
    ['Transfer-Encoding: chunked'],
    `1${'0'.repeat(17)}\r\n${BODY}\r\n0\r\n\r\n`,
  ),
  'chunks with bare line feeds': deliver(
    ['Transfer-Encoding: chunked'],
    chunked(BODY).replaceAll('\r\n', '\n'),
  ),
  'a chunk longer than it says': deliver(['Transfer-Encoding: chunked'], `1\r\n${BODY}\r\n0\r\n\r\n`),
  'a request line of two words': requestText('POST /wake/v1/deliver', AUTHORISED, BODY),
  'an unknown version': requestText('GET /readyz HTTP/9.9', AUTHORISED),
};

const server = sharedServer();
let before = 0;

beforeEach(async () => {
  before = await total();
});

async function total(): Promise<number> {
  return (await server().wake().sweep({ limit: '1' })).json.total;
}

/** How many deliveries were taken since the test began. */
const taken = async (): Promise<number> => (await total()) - before;

describe('requests that two readers would read differently', () => {
  test('[W11] are refused with 400, the connection is closed, and nothing has changed', async () => {
    for (const [name, text] of Object.entries(AMBIGUOUS)) {
      const raw = await Raw.connect(server().url);
      await raw.write(text);
      // Whatever follows on the same connection must not be heard either.
      await raw.write(SMUGGLED);
      await raw.untilClosed();
      expect([name, raw.statuses]).toEqual([name, [400]]);
      expect([name, await taken()]).toEqual([name, 0]);
    }
    expect(server().child.stderr).toBe('');
  });

  const LENGTH = `Content-Length: ${BODY.length}`;
  const REFUSED: Record<string, { status: number; headers: readonly string[]; body?: string }> = {
    'without a host': { status: 400, headers: [...AUTHORISED.slice(1), LENGTH] },
    'with two hosts': { status: 400, headers: [...AUTHORISED, 'Host: elsewhere', LENGTH] },
    'with packed chunks': {
      status: 400,
      headers: [...AUTHORISED, 'Transfer-Encoding: gzip, chunked'],
      body: chunked(BODY),
    },
    'of two media types': { status: 415, headers: [...AUTHORISED, 'Content-Type: text/plain', LENGTH] },
    'with two keys': {
      status: 401,
      headers: [...AUTHORISED, 'Authorization: Bearer wk_test_another', LENGTH],
    },
  };

  // Node shows the first thousand headers only, unless it is told otherwise.
  const MANY = Array.from({ length: 1200 }, () => 'X:');

  test('[W11] what is refused is refused behind a thousand other headers, too', async () => {
    const hidden: typeof REFUSED = {
      'two hosts': { status: 400, headers: [...AUTHORISED, LENGTH, ...MANY, 'Host: elsewhere'] },
      'packed chunks': {
        status: 400,
        headers: [...AUTHORISED, ...MANY, 'Transfer-Encoding: gzip, chunked'],
        body: chunked(BODY),
      },
      'a packed body': { status: 415, headers: [...AUTHORISED, LENGTH, ...MANY, 'Content-Encoding: gzip'] },
      'two keys': {
        status: 401,
        headers: [...AUTHORISED, LENGTH, ...MANY, 'Authorization: Bearer wk_test_another'],
      },
    };
    for (const [name, { status, headers, body = BODY }] of Object.entries(hidden)) {
      const raw = await Raw.connect(server().url);
      await raw.write(requestText('POST /wake/v1/deliver HTTP/1.1', ['Connection: close', ...headers], body));
      await raw.untilClosed();
      expect([name, raw.statuses]).toEqual([name, [status]]);
    }
    expect(await taken()).toBe(0);
  });

  test.each(Object.entries(REFUSED))(
    '[W11] a request %s is refused',
    async (_, { status, headers, body = BODY }) => {
      const raw = await Raw.connect(server().url);
      // Closed at once, instead of when the server has waited long enough for another request.
      await raw.write(requestText('POST /wake/v1/deliver HTTP/1.1', [...headers, 'Connection: close'], body));
      await raw.untilClosed();
      expect(raw.statuses).toEqual([status]);
      expect(await taken()).toBe(0);
    },
  );

  test('[W11] a body is never read as the next request, and the next request is still served', async () => {
    const raw = await Raw.connect(server().url);
    const inside = JSON.stringify(sampleDelivery({ details: SMUGGLED }));
    await raw.write(deliver([`Content-Length: ${inside.length}`], inside));
    await raw.write(requestText('GET /wake/v1/responses HTTP/1.1', AUTHORISED));
    await raw.untilReplied(2);
    // The words were refused as a credential; no second delivery was read out of them.
    expect(raw.statuses).toEqual([422, 200]);
    expect(await taken()).toBe(0);
  });

  test('[W11] chunks are one request, pipelined requests are several', async () => {
    const raw = await Raw.connect(server().url);
    const half = Math.floor(BODY.length / 2);
    const chunks = [BODY.slice(0, half), BODY.slice(half)].map(
      (c) => `${c.length.toString(16)};x=y\r\n${c}\r\n`,
    );
    await raw.write(
      deliver(['Transfer-Encoding: chunked'], `${chunks.join('')}0\r\n\r\n`) + SMUGGLED + SMUGGLED,
    );
    await raw.untilReplied(3);
    expect(raw.statuses).toEqual([201, 201, 201]);
    expect(await taken()).toBe(3);
  });
});

describe('requests that are too much', () => {
  test('[W11] headers over 16 KiB, one or many, are 431', async () => {
    const many = Array.from({ length: 2000 }, (_, n) => `X-${n}: ${'y'.repeat(10)}`);
    for (const headers of [[`X-Long: ${'y'.repeat(20_000)}`], many]) {
      const raw = await Raw.connect(server().url);
      await raw.write(deliver([...headers, `Content-Length: ${BODY.length}`], BODY));
      await raw.untilClosed();
      expect(raw.statuses).toEqual([431]);
      expect(raw.received).toContain('"code":"header_too_large"');
    }
    const raw = await Raw.connect(server().url);
    await raw.write(requestText(`GET /${'a'.repeat(20_000)} HTTP/1.1`, AUTHORISED));
    await raw.untilClosed();
    expect([400, 414, 431]).toContain(raw.statuses[0]);
    expect(await taken()).toBe(0);
  });

  test('[W11] a compressed body is refused, and a length over the limit before it is read', async () => {
    const packed = await Raw.connect(server().url);
    await packed.write(deliver(['Content-Encoding: gzip', `Content-Length: ${BODY.length}`], BODY));
    await packed.untilReplied();
    expect(packed.statuses).toEqual([415]);
    const long = await Raw.connect(server().url);
    await long.write(deliver([`Content-Length: ${10 * 1024 * 1024}`], 'x'));
    await long.untilReplied();
    expect(long.statuses).toEqual([413]);
    expect(await taken()).toBe(0);
  });

  test('[W1] a client that sends headers or body too slowly is disconnected, and others are served meanwhile', async () => {
    const slow = await Promise.all(Array.from({ length: 20 }, () => Raw.connect(server().url)));
    const start = (n: number) =>
      n % 2 === 0 ? 'POST /wake/v1/deliver HTTP/1.1\r\nX-A: ' : deliver(['Content-Length: 1000'], '{');
    await Promise.all(slow.map((raw, n) => raw.write(start(n))));
    const drip = setInterval(() => {
      for (const raw of slow) if (!raw.isClosed) void raw.write('x');
    }, 500);
    try {
      await server().wake().delivered();
      await Promise.all(slow.map((raw) => raw.untilClosed()));
    } finally {
      clearInterval(drip);
    }
    expect(await taken()).toBe(1);
  });
});
