import { codeOf } from '../error-code.ts';
import { isAway } from './errors.ts';

/** `user:password` is left out wherever an address is shown. */
export function shownUrl(url: string): string {
  return url.replace(/\/\/[^@/]*@/, '//').replace(/\?.*$/, '');
}

/** The database cannot be reached yet: worth another try for those who can wait. */
export function isWorthWaiting(reason: unknown): boolean {
  return reason instanceof Error && isAway(reason.cause);
}

/** Refusals at start-up: one sentence with the way out, and never the password. */
export function openServerError(reason: unknown, url: string): Error {
  const code = codeOf(reason);
  const said = reason instanceof Error ? reason.message || code : String(reason);
  const because = (sentence: string) => new Error(sentence, { cause: reason });
  const place = shownUrl(url);
  if (isAway(reason)) return because(`PostgreSQL at ${place} does not answer (${said}). Check DATABASE_URL.`);
  if (code === '3D000')
    return because(`There is no database at ${place} (${said}). Make it with "createdb".`);
  if (code.startsWith('28') || /password/.test(said))
    return because(`PostgreSQL at ${place} does not let us in (${said}). Check the user and password.`);
  if (code === '42501')
    return because(
      `PostgreSQL at ${place} lets us in, but not make tables (${said}). Make the user the owner of the database.`,
    );
  return reason instanceof Error ? reason : new Error(said);
}
