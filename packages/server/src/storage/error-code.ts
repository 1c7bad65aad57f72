/** What a database, its driver or the system calls an error: `SQLITE_FULL`, `57014`, `ENOSPC`; empty when it has no name. */
export function codeOf(reason: unknown): string {
  return typeof reason === 'object' && reason !== null && 'code' in reason ? String(reason.code) : '';
}
