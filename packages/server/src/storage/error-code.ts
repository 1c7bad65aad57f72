/** What a database, its driver or the system calls an error: `SQLITE_FULL`, `57014`, `ENOSPC`; empty when it has no name. */
export function codeOf(reason: unknown): string {
  if (typeof reason !== 'object' || reason === null) return '';
  // SQLite's errors all have the same code, and their name beside it.
  if ('sqliteCodeName' in reason) return String(reason.sqliteCodeName);
  return 'code' in reason ? String(reason.code) : '';
}
