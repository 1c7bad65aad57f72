import type { FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '../../core/faults.ts';

/** Bytes `from` up to, and without, `to`. */
export type Slice = { from: number; to: number };

const ONE_RANGE = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/;

/**
 * Which bytes to send, with the headers that say so: an interrupted download can be resumed (RFC 9110, 14). `tag`
 * names the content, which never changes under that name. What we do not support (several ranges, another unit, a
 * range of other content) gets the whole, as the RFC allows.
 */
export function askedSlice(
  request: FastifyRequest,
  reply: FastifyReply,
  { tag, size }: { tag: string; size: number },
): Slice {
  const etag = `"${tag}"`;
  reply.headers({ 'accept-ranges': 'bytes', etag });
  const slice = request.method === 'GET' ? wantedSlice(request, etag, size) : null;
  if (slice === null) {
    reply.header('content-length', size);
    return { from: 0, to: size };
  }
  const { from, to } = slice;
  if (from >= to) {
    reply.header('content-range', `bytes */${size}`);
    throw new Fault(
      'range_not_satisfiable',
      `There are ${size} bytes here, and Range asks for none of them.`,
    );
  }
  reply
    .code(206)
    .headers({ 'content-range': `bytes ${from}-${to - 1}/${size}`, 'content-length': to - from });
  return slice;
}

function wantedSlice({ headers }: FastifyRequest, etag: string, size: number): Slice | null {
  const found = ONE_RANGE.exec(headers.range ?? '');
  if (found === null || (headers['if-range'] ?? etag) !== etag) return null;
  const [, first, last, suffix] = found;
  if (suffix !== undefined)
    return { from: Math.max(0, size - Number(suffix)), to: suffix === '0' ? 0 : size };
  const from = Number(first);
  if (last !== undefined && Number(last) < from) return null; // no range at all, says the RFC
  return { from, to: Math.min(size, last === undefined ? size : Number(last) + 1) };
}
