import type { FastifyInstance, FastifyReply } from 'fastify';
import {
  IMAGE_MOST,
  type ImageType,
  imageTypeOf,
  isImageAddress,
  namesAddress,
} from '../../core/deliveries/content/image.ts';
import { openContent } from '../../core/deliveries/content/sealed.ts';
import { Fault } from '../../core/faults.ts';
import type { Person } from '../../core/people/person.ts';
import { missing, type Query, single } from '../../http/reading/fields.ts';
import type { Shell } from '../../http/shell.ts';
import { caller } from '../person.ts';
import { turnOf } from '../turn.ts';
import { noDelivery } from './detail.ts';

type ById = { Params: { id: string } };

/** Images by reference, on a click and fetched by us: their host learns nothing about who looks. */
export function imageRoutes(app: FastifyInstance, shell: Shell): void {
  app.get<ById>('/desk/deliveries/:id/image', async (request, reply) => {
    const src = single(request.query as Query, 'src');
    if (src === null) throw missing('src');
    await assertNamed(shell, caller(request), request.params.id, src);
    // Its host may take its time and send as much as is allowed: a few at once, as for anything large.
    await turnOf(shell, { request, reply, bytes: IMAGE_MOST, line: 'images' });
    const { type, bytes } = await fetchImage(shell, src);
    return sendImage(reply, type, bytes);
  });
}

/** Otherwise anybody with a login could make us fetch anything. */
async function assertNamed({ room }: Shell, person: Person, id: string, src: string): Promise<void> {
  const sealed = await room.store.read(person.space, (tx) => tx.deliveries.body(id));
  if (sealed === null) throw noDelivery();
  const content = openContent(room, sealed, { space: person.space, id });
  if (isImageAddress(src) && namesAddress(content, src)) return;
  throw new Fault('not_found', 'This delivery names no image with this address.', { field: 'src' });
}

async function fetchImage({ outbound }: Shell, src: string): Promise<{ type: ImageType; bytes: Buffer }> {
  const outcome = await outbound.send({
    url: src,
    method: 'GET',
    headers: { accept: 'image/avif,image/webp,image/png,image/jpeg,image/gif' },
    body: null,
    allowLoopback: false,
    maxReplyBytes: IMAGE_MOST,
  });
  const bytes = outcome.ok && outcome.status === 200 && !outcome.truncated ? outcome.bodyStart : null;
  const type = bytes === null ? null : imageTypeOf(bytes);
  if (bytes !== null && type !== null) return { type, bytes };
  throw new Fault('image_unavailable', 'The image could not be fetched, or is not one that can be shown.');
}

/** Harmless even when opened by itself. */
function sendImage(reply: FastifyReply, type: ImageType, bytes: Buffer): FastifyReply {
  return reply
    .header('content-type', type)
    .header('content-disposition', 'inline')
    .header('content-security-policy', "default-src 'none'; sandbox")
    .header('cross-origin-resource-policy', 'same-origin')
    .header('referrer-policy', 'no-referrer')
    .header('cache-control', 'private, max-age=3600')
    .send(bytes);
}
