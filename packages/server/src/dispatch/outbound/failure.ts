/** Why nothing usable came back. For our own record: outwards every kind looks the same. */
export type FailureKind =
  /** Our own request was not fit to be sent: not https, userinfo, a forbidden header. */
  | 'refused_request'
  | 'refused_address'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'reset'
  | 'garbage'
  | 'too_large'
  /** Given up by us: the caller's signal or a shutdown. Says nothing about the receiver. */
  | 'aborted';

export type Failure = { ok: false; kind: FailureKind; message: string };

/** One sentence for all of them, so that nobody maps our network by its error messages. */
const GENERIC_FAILURE = 'The receiver could not be reached or did not answer properly.';

export function failed(kind: FailureKind): Failure {
  return { ok: false, kind, message: GENERIC_FAILURE };
}

/** Carried by the error of a connection that did not end where it was meant to. */
export const UNCHECKED_ADDRESS = 'LANTERNROOM_UNCHECKED_ADDRESS';

const NOT_CONNECTED = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'EAFNOSUPPORT',
  'EACCES',
  'EPERM',
  'EINVAL',
  'EMFILE',
  'ENFILE',
]);
const TIMEOUTS = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);
const OVERFLOWS = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'HPE_HEADER_OVERFLOW',
  'UND_ERR_RES_EXCEEDED_MAX_SIZE',
]);
const NOT_HTTP = new Set(['HTTPParserError', 'ResponseContentLengthMismatchError']);

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Before the request was on its way. Certificate errors have dozens of codes, so TLS is what remains. */
export function kindOfConnectError(error: Error, protocol: string): FailureKind {
  const code = codeOf(error);
  if (code === UNCHECKED_ADDRESS) return 'refused_address';
  if (TIMEOUTS.has(code)) return 'timeout';
  return NOT_CONNECTED.has(code) || protocol === 'http:' ? 'connect' : 'tls';
}

/** After it was. */
export function kindOfReplyError(error: Error): FailureKind {
  const code = codeOf(error);
  if (TIMEOUTS.has(code)) return 'timeout';
  if (OVERFLOWS.has(code)) return 'too_large';
  // undici gives "bad response" and "bad upgrade" the code of a closed socket.
  if (NOT_HTTP.has(error.name) || error.message.startsWith('bad ')) return 'garbage';
  return 'reset';
}
