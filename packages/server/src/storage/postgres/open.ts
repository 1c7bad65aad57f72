import { codeOf } from '../error-code.ts';
import { isAway } from './errors.ts';

/** `user:password` is left out wherever an address is shown, up to the last `@`: a password may hold one. */
export function shownUrl(url: string): string {
  return url.replace(/\/\/.*@/, '//').replace(/\?.*$/, '');
}

const UNTRUSTED = /^(DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|CERT_|ERR_TLS_CERT_)/;

const UNREADABLE =
  'The address of PostgreSQL cannot be read. Write it like postgres://user:password@db.example.com:5432/lanternroom, and in the password @ as %40, / as %2F, # as %23 and ? as %3F.';

/** The database cannot be reached yet: worth another try for those who can wait. */
export function isWorthWaiting(reason: unknown): boolean {
  return reason instanceof Error && isAway(reason.cause);
}

/** `pg` reads certificates as soon as it reads the address. A socket that is not there is ENOENT as well, of another call. */
function isUnreadFile(reason: unknown): boolean {
  if (!(reason instanceof Error) || !('syscall' in reason)) return false;
  return reason.syscall === 'open' || codeOf(reason) === 'EISDIR';
}

/** Refusals at start-up: one sentence with the way out, and never the password. */
export function openServerError(reason: unknown, url: string): Error {
  const code = codeOf(reason);
  const said = reason instanceof Error ? reason.message || code : String(reason);
  const because = (sentence: string) => new Error(sentence, { cause: reason });
  const place = shownUrl(url);
  // Without a cause: it may hold the address.
  if (code === 'ERR_INVALID_URL') return new Error(UNREADABLE);
  if (isUnreadFile(reason))
    return because(
      `A file that DATABASE_URL names, as sslrootcert, sslcert or sslkey, cannot be read (${said}). Check its path, and that this user may read it.`,
    );
  if (isAway(reason)) return because(`PostgreSQL at ${place} does not answer (${said}). Check DATABASE_URL.`);
  if (code === '3D000')
    return because(`There is no database at ${place} (${said}). Make it with "createdb".`);
  if (code.startsWith('28') || /password/.test(said))
    return because(`PostgreSQL at ${place} does not let us in (${said}). Check the user and password.`);
  if (code === '42501')
    return because(
      `PostgreSQL at ${place} lets us in, but not make tables (${said}). Make the user the owner of the database.`,
    );
  if (/not support SSL/.test(said))
    return because(
      `PostgreSQL at ${place} does not speak TLS (${said}). Switch it on there, or leave "sslmode" out of DATABASE_URL.`,
    );
  if (UNTRUSTED.test(code))
    return because(
      `The certificate of PostgreSQL at ${place} is not trusted (${said}). Name the file of its authority in DATABASE_URL with "?sslrootcert=FILE", and the host as the certificate does.`,
    );
  return reason instanceof Error ? reason : new Error(said);
}
