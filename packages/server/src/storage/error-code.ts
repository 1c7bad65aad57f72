/**
 * The name that a database, its driver or the system gives an error: `SQLITE_FULL`, `57014`, `ENOSPC`; empty without
 * one.
 */
export function codeOf(reason: unknown): string {
  if (typeof reason !== 'object' || reason === null) return '';
  // SQLite's errors all have the same code; the name is beside it.
  if ('sqliteCodeName' in reason) return String(reason.sqliteCodeName);
  return 'code' in reason ? String(reason.code) : '';
}
