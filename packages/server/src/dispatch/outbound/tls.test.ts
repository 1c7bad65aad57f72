import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { makeOutbound, PUBLIC, post, publicAre, toLoopback } from '../../testing/network/outbound.ts';
import {
  certificate,
  httpReceiver,
  httpsReceiver,
  serve,
  signal,
  testCa,
} from '../../testing/network/receivers.ts';

const trusting = { judge: publicAre(PUBLIC), lookup: async () => [PUBLIC], ca: testCa };

test('[W21] the address is the checked one, the name for TLS and Host stays the one in the URL', async () => {
  const greeted = signal<{ servername: unknown; host: string | undefined }>();
  const receiver = await httpsReceiver(
    certificate('receiver'),
    (req, res) => {
      greeted.fire({ servername: Reflect.get(req.socket, 'servername'), host: req.headers.host });
      res.end();
    },
    PUBLIC,
  );
  const outcome = await makeOutbound(trusting).send(post(`https://receiver.test:${receiver.port}/`));
  expect(outcome).toMatchObject({ ok: true, status: 200 });
  expect(await greeted.seen).toEqual({ servername: 'receiver.test', host: `receiver.test:${receiver.port}` });
});

test('[W21] an unknown authority is refused, also when the environment says otherwise', async () => {
  const receiver = await httpsReceiver(certificate('receiver'), (_req, res) => res.end(), PUBLIC);
  const { ca: _, ...distrusting } = trusting;
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  const outcome = await makeOutbound(distrusting).send(post(`https://receiver.test:${receiver.port}/`));
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  expect(outcome).toMatchObject({ ok: false, kind: 'tls' });
});

test.each(['TLSv1.2' as const, 'TLSv1.3' as const])(
  '[W21] a certificate for another name is refused every time, with %s too',
  async (maxVersion) => {
    let heard = 0;
    const receiver = await httpsReceiver(
      { ...certificate('other'), maxVersion },
      (_req, res) => {
        heard++;
        res.end();
      },
      PUBLIC,
    );
    const outbound = makeOutbound(trusting);
    for (let i = 0; i < 3; i++) {
      const outcome = await outbound.send(post(`https://receiver.test:${receiver.port}/`));
      expect(outcome).toMatchObject({ ok: false, kind: 'tls' });
    }
    expect(heard).toBe(0);
  },
);

test('[W21] https to a literal checks the certificate against the address', async () => {
  const good = await httpsReceiver(certificate('receiver'), (_req, res) => res.end());
  const bad = await httpsReceiver(certificate('other'), (_req, res) => res.end());
  const outbound = makeOutbound({ ca: testCa });
  const request = (port: number) => toLoopback(port, { url: `https://127.0.0.1:${port}/` });
  expect(await outbound.send(request(good.port))).toMatchObject({ ok: true });
  expect(await outbound.send(request(bad.port))).toMatchObject({ ok: false, kind: 'tls' });
});

test('[W21] https to localhost reaches a receiver on loopback with its own certificate', async () => {
  const receiver = await httpsReceiver(certificate('receiver'), (_req, res) => res.end());
  const request = toLoopback(receiver.port, { url: `https://localhost:${receiver.port}/` });
  expect(await makeOutbound({ ca: testCa }).send(request)).toMatchObject({ ok: true, status: 200 });
});

test('[W21] plain http, garbage and a hang-up at an https address are tls failures', async () => {
  const plain = await httpReceiver((_req, res) => res.end(), PUBLIC);
  const noise = await serve(
    createServer((socket) => socket.end('220 smtp.example ESMTP\r\n')),
    PUBLIC,
  );
  const closing = await serve(
    createServer((socket) => socket.destroy()),
    PUBLIC,
  );
  const outbound = makeOutbound(trusting);
  for (const { port } of [plain, noise, closing]) {
    const outcome = await outbound.send(post(`https://receiver.test:${port}/`));
    expect(outcome).toMatchObject({ ok: false, kind: 'tls' });
  }
});

test('[W22] a stop also closes a connection that is still shaking hands', async () => {
  const knocked = signal();
  const closed = signal();
  const silent = createServer((socket) => {
    socket.on('close', closed.fire).resume();
    knocked.fire();
  });
  const { port } = await serve(silent, PUBLIC);
  const outbound = makeOutbound(trusting);
  const outcome = outbound.send(post(`https://receiver.test:${port}/`));
  await knocked.seen;
  await outbound.stop();
  expect(await outcome).toMatchObject({ ok: false, kind: 'aborted' });
  await closed.seen;
});
