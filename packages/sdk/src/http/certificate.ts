import { isRecord } from '../json.ts';

/** Node's names: self-signed, of an unknown authority, out of date, for another name. */
const DISTRUSTED = /CERT|UNABLE_TO_VERIFY/;

/** What a server without TLS answers is no record of TLS; Node names it by the record's version or length. */
const WITHOUT_TLS = /^(ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)|EPROTO)$/;

/**
 * The sentence for a server that is there and whose certificate is not trusted here, or that speaks without TLS; null
 * when that was not the reason. Told as silence, it sends people to look at the wrong end.
 *
 * @example
 * await fetch(url).catch((cause: unknown) => {
 *   throw new Error(certificateTrouble(url, cause) ?? `Nothing answers at ${url}.`, { cause });
 * });
 */
export function certificateTrouble(base: string, cause: unknown): string | null {
  const code = codeOf(cause);
  if (code === null) return null;
  if (WITHOUT_TLS.test(code)) {
    return `${base} answers, but not in TLS (${code}): give its address with http:// if it runs on this machine, else the https:// address of the proxy in front of it.`;
  }
  if (!DISTRUSTED.test(code)) return null;
  return `${base} shows a certificate that this machine does not trust (${code}): fix the certificate, or name a PEM file with its authority in NODE_EXTRA_CA_CERTS.`;
}

/** fetch hides the useful part, such as ECONNREFUSED, in the cause of a bare "fetch failed". */
export function codeOf(cause: unknown): string | null {
  for (const error of [
    cause,
    isRecord(cause) || cause instanceof Error ? Reflect.get(cause, 'cause') : null,
  ]) {
    const code = isRecord(error) || error instanceof Error ? Reflect.get(error, 'code') : null;
    if (typeof code === 'string') return code;
  }
  return null;
}
