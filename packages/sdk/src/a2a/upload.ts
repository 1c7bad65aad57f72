import type { Clock } from '../clock.ts';
import { aborted } from '../clock.ts';
import { LanternError } from '../faults.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { isRecord, parseJson } from '../json.ts';
import { pauseBefore } from './backoff.ts';
import { type Body, watched } from './body.ts';
import type { ContentSource } from './task.ts';

export interface UploadParts {
  readonly endpoint: Endpoint;
  readonly apiKey: string;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Content that does not fit a frame (A20): streamed to the server, and named by the address that comes back. */
export function createUpload(parts: UploadParts) {
  return async (taskId: string, content: ContentSource, signal: AbortSignal): Promise<string> => {
    for (let attempt = 0; ; attempt += 1) {
      const url = await once(parts, { taskId, body: watched(await content()), signal });
      if (url !== null) return url;
      await parts.clock.sleep(pauseBefore(attempt, parts.random()), signal);
    }
  };
}

interface Attempt {
  readonly taskId: string;
  readonly body: Body;
  readonly signal: AbortSignal;
}

/** Null when it is worth another try. */
async function once(parts: UploadParts, { taskId, body, signal }: Attempt): Promise<string | null> {
  const address = `${parts.endpoint.base}/a2a/uploads?taskId=${encodeURIComponent(taskId)}`;
  const headers = { authorization: `Bearer ${parts.apiKey}`, 'content-type': 'application/octet-stream' };
  const init = {
    method: 'POST',
    headers,
    body: body.sent,
    signal,
    redirect: 'manual',
    duplex: 'half',
  } as const;
  const reply = await parts.fetch(address, init).catch(() => null);
  if (signal.aborted) throw aborted(signal);
  if (body.failure !== null) throw unreadable(body.failure);
  if (reply === null || reply.status === 429 || reply.status >= 500) return null;
  const text = await reply.text().catch(() => '');
  const said = parseJson(text);
  if (reply.status === 201 && isRecord(said) && typeof said.url === 'string') return said.url;
  throw refused(reply.status, text);
}

function unreadable({ cause }: { cause: unknown }): LanternError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new LanternError('wrong_usage', `What is to be uploaded cannot be read: ${why}`, { cause });
}

function refused(status: number, text: string): LanternError {
  const wire = { status, code: null, field: null, oldestCursor: null };
  const message = `The server did not take the content (${status}): ${text.slice(0, 300)}`;
  return new LanternError(status === 404 ? 'not_found' : 'refused', message, { wire });
}
