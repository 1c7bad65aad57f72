import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { describe, expect, test } from 'vitest';
import {
  IMAGE_MOST,
  imageTypeOf,
  isImageAddress,
  namesAddress,
} from '../../core/deliveries/content/image.ts';
import { openDesk, refused, status } from '../../testing/desk/desk.ts';
import { PUBLIC, PublicStage } from '../../testing/network/outbound.ts';
import { certificate, httpsReceiver } from '../../testing/network/receivers.ts';
import { until } from '../../testing/waiting.ts';

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const SRC = 'https://receiver.test/cat.png';

async function open(answer: RequestListener) {
  const receiver = await httpsReceiver(certificate('receiver'), answer, PUBLIC);
  const { world } = await openDesk({ outbound: () => new PublicStage(receiver) });
  const id = await world.deliver({ details: { text: `Look: ![a cat](${SRC}) and <${SRC}?big=1>` } });
  const image = (src: string, token = world.token, of = id) =>
    world.desk('GET', `/desk/deliveries/${of}/image?src=${encodeURIComponent(src)}`, undefined, token);
  return { receiver, world, image, id };
}

const withPng: RequestListener = (_, res) => res.end(PNG);

describe('the image proxy', () => {
  test('[D49] fetches what the delivery names, and serves it so that it can do nothing', async () => {
    let asked: IncomingHttpHeaders = {};
    const { image } = await open((req, res) => {
      asked = req.headers;
      res.setHeader('content-type', 'text/html');
      res.setHeader('set-cookie', 'a=b');
      res.end(PNG);
    });
    const reply = await image(SRC);
    expect(reply.status).toBe(200);
    expect(Buffer.from(await reply.arrayBuffer())).toEqual(PNG);
    expect(reply.headers.get('content-type')).toBe('image/png');
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
    expect(reply.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    expect(reply.headers.getSetCookie()).toEqual([]);
    for (const secret of ['cookie', 'authorization', 'referer', 'origin', 'x-forwarded-for'])
      expect(asked, secret).not.toHaveProperty(secret);
  });

  test('[D49] nothing else is fetched: not part of an address, not another, not without https', async () => {
    const { image, receiver } = await open(withPng);
    const others = [
      'https://receiver.test/cat.pn',
      'https://receiver.test/',
      'https://receiver.test/cat.png?big',
      'https://receiver.test/dog.png',
      'receiver.test/cat.png',
      'http://receiver.test/cat.png',
      'https://receiver.test:444/cat.png',
      'file:///etc/passwd',
    ];
    for (const src of others) expect(await refused(image(src)), src).toMatchObject({ status: 404 });
    expect(await status(image(`${SRC}?big=1`))).toBe(200);
    expect(receiver.connections).toHaveLength(1);
  });

  test('[D49][W29] a person has a few of them fetched at once, and somebody else is not kept waiting', async () => {
    const asked: { url: string | undefined; answer: () => void }[] = [];
    const { image, world } = await open(
      ({ url }, res) => void asked.push({ url, answer: () => res.end(PNG) }),
    );
    const six = Array.from({ length: 6 }, () => status(image(SRC)));
    await until(async () => asked.length >= 4);
    const other = await world.addPerson('other@example.com', 'reader');
    const theirs = status(image(`${SRC}?big=1`, other.token));
    await until(async () => asked.some(({ url }) => url?.endsWith('big=1') === true));
    expect(asked).toHaveLength(5);
    for (let answered = 0; answered < 7; answered++) {
      await until(async () => asked.length > answered);
      asked[answered]?.answer();
    }
    expect(await Promise.all([theirs, ...six])).toEqual(Array(7).fill(200));
  });

  test('[D49] unknown and foreign deliveries answer alike', async () => {
    const { image, world } = await open(withPng);
    const stranger = await world.addPerson('s@example.com', 'owner', await world.addSpace('other'));
    const foreign = await refused(image(SRC, stranger.token));
    expect(foreign).toEqual(await refused(image(SRC, world.token, '7b0e8c0e-0000-4000-8000-000000000000')));
    expect(foreign.status).toBe(404);
  });

  test.each<[string, RequestListener]>([
    ['a page', (_, res) => res.end('<svg onload=alert(1)>')],
    ['an image by name only', (_, res) => res.setHeader('content-type', 'image/png').end('hello')],
    ['an error', (_, res) => res.writeHead(404).end(PNG)],
    ['a redirect', (_, res) => res.writeHead(302, { location: 'https://receiver.test/else' }).end(PNG)],
    ['nothing', (_, res) => res.end()],
    ['a cut connection', (req) => req.socket.destroy()],
    ['too much', (_, res) => res.end(Buffer.concat([PNG, Buffer.alloc(IMAGE_MOST)]))],
  ])('[D49] %s is not shown, and why is not said', async (_, answer) => {
    const { image } = await open(answer);
    const reply = await image(SRC);
    expect(reply.status).toBe(502);
    expect(await reply.json()).toMatchObject({
      error: {
        code: 'image_unavailable',
        message: 'The image could not be fetched, or is not one that can be shown.',
      },
    });
  });

  test('[D49] addresses inside our own network are not dialled', async () => {
    const { world } = await openDesk();
    const src = 'https://169.254.169.254/latest/meta-data';
    const id = await world.deliver({ details: src });
    expect(
      await refused(world.desk('GET', `/desk/deliveries/${id}/image?src=${encodeURIComponent(src)}`)),
    ).toEqual({ status: 502, code: 'image_unavailable' });
  });
});

test('[D49] what an image is, is told by its first bytes', () => {
  const start = (text: string) => imageTypeOf(Buffer.from(text, 'latin1'));
  expect(start('\x89PNG\r\n\x1a\nx')).toBe('image/png');
  expect(start('\xff\xd8\xff\xe0')).toBe('image/jpeg');
  expect(start('GIF89a')).toBe('image/gif');
  expect(start('RIFF\x00\x00\x00\x0aWEBPVP8 ')).toBe('image/webp');
  expect(start('\x00\x00\x00\x1cftypavif')).toBe('image/avif');
  for (const other of ['', '<svg xmlns="x">', '%PDF-1.7', 'RIFF1234WAVE', '\x00\x00\x00\x1cftypmp42'])
    expect(start(other), other).toBeNull();
});

test('an address is named when it stands there whole', () => {
  const content = { a: ['see https://a.test/x.png, please'], 'https://a.test/key.png': 1 };
  expect(namesAddress(content, 'https://a.test/x.png')).toBe(true);
  expect(namesAddress(content, 'https://a.test/key.png')).toBe(true);
  expect(namesAddress(content, 'https://a.test/x')).toBe(false);
  expect(namesAddress('xhttps://a.test/x', 'https://a.test/x')).toBe(false);
  expect(isImageAddress('https://u:p@a.test/x')).toBe(false);
});
