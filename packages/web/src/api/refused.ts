import { span } from '../words/time.ts';

/** Any request that did not succeed: the server refused it, or there was no answer at all (`status` 0). */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  readonly field: string | undefined;
  readonly extra: Record<string, unknown>;
  readonly retryAfter: number | undefined;

  constructor(
    status: number,
    body: { code: string; message: string; field?: string } & Record<string, unknown>,
    retryAfter?: number,
  ) {
    super(body.message);
    this.name = 'Refused';
    const { code, message: _message, field, docs: _docs, ...extra } = body;
    this.status = status;
    this.code = code;
    this.field = field;
    this.extra = extra;
    this.retryAfter = retryAfter;
  }
}

export function isRefused(error: unknown): error is Refused {
  return error instanceof Error && error.name === 'Refused';
}

/** Marks a refusal that does not come from our server, which always says why, but from something on the way to it. */
const NOT_OURS = 'not_ours';
export const isNotOurs = (error: unknown) => isRefused(error) && error.code === NOT_OURS;
export const notOurs = (status: number, retryAfter: number | undefined) =>
  new Refused(
    status,
    {
      code: NOT_OURS,
      message: 'Something on the way to the server refused this. Nothing is lost; try again in a moment.',
    },
    retryAfter,
  );

/** The server no longer knows who is asking. */
export function isLoggedOut(error: unknown): boolean {
  return isRefused(error) && error.status === 401;
}

/** An address that this server does not have yet. */
export function isNotThere(error: unknown): boolean {
  return isRefused(error) && error.status === 404 && !isNotOurs(error);
}

const CALM: Record<number, string> = {
  0: 'The server cannot be reached. Nothing is lost; try again in a moment.',
  401: 'You were logged out, so this was not done. Log in, then try again; your words are still here.',
  413: 'This is too long to send: at most one mebibyte. Shorten it; nothing is lost.',
  500: 'The server made a mistake and noted it. Nothing is lost; try again.',
  502: 'The server cannot be reached. Nothing is lost; try again in a moment.',
  504: 'The server cannot be reached. Nothing is lost; try again in a moment.',
  503: 'The server is busy starting or stopping. Nothing is lost; try again in a moment.',
  507: 'The disk of the server is full. Nothing is lost; try again when there is room.',
};

/**
 * Nothing came back from the server, so the outcome is unknown: the request may have been carried out, and only the
 * answer lost.
 */
export const isSilence = (error: unknown) =>
  isRefused(error) &&
  (error.status === 0 ||
    error.status === 502 ||
    error.status === 504 ||
    (isNotOurs(error) && error.status >= 500));

const UNKNOWN = 'unknown_outcome';
export const isUnknown = (error: unknown): error is Refused & { code: typeof UNKNOWN } =>
  isRefused(error) && error.code === UNKNOWN;
export const unknownOutcome = (message: string) => new Refused(0, { code: UNKNOWN, message });

/** One calm sentence for the person. */
export function calmly(error: unknown): string {
  if (!isRefused(error)) return 'Something unexpected happened here. Nothing is lost; try again.';
  if (isUnknown(error)) return error.message;
  if (error.status === 429) {
    const wait = error.retryAfter === undefined ? 'a moment' : span(error.retryAfter);
    return `That was a lot at once. Wait ${wait} and try again; nothing is lost.`;
  }
  return CALM[error.status] ?? error.message;
}
