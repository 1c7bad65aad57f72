import { isIP, type LookupFunction, Socket } from 'node:net';
import { buildConnector } from 'undici';
import { canonicalAddress } from './addresses.ts';
import { UNCHECKED_ADDRESS } from './failure.ts';
import type { CheckedAddress } from './resolve.ts';

/** Opens the next candidate when one has not answered by then (RFC 8305). */
const NEXT_CANDIDATE_MS = 1000;

export type ConnectRule = {
  addresses: readonly CheckedAddress[];
  timeoutMs: number;
  ca: string | undefined;
  /** Sockets that undici does not know yet, so that a shutdown can close them. */
  connecting: Set<Socket>;
};

/** undici's connector, bound to addresses that were checked. TLS still asks for the name in the URL. */
export function checkedConnector(rule: ConnectRule): buildConnector.connector {
  const dial = buildConnector({
    timeout: rule.timeoutMs,
    lookup: fixedLookup(rule.addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_CANDIDATE_MS,
    allowH2: false,
    // Said aloud, because NODE_TLS_REJECT_UNAUTHORIZED=0 would change the default.
    rejectUnauthorized: true,
    ...(rule.ca !== undefined && { ca: rule.ca }),
  });
  return (options, callback) => {
    const hostname = isIP(options.hostname) === 0 ? options.hostname : (rule.addresses[0]?.address ?? '');
    // The types say void; it is the socket.
    const socket: unknown = dial({ ...options, hostname }, (...result) => {
      if (socket instanceof Socket) rule.connecting.delete(socket);
      if (result[0] !== null) callback(...result);
      else handOver(result[1], rule.addresses, callback);
    });
    if (socket instanceof Socket) rule.connecting.add(socket);
  };
}

/** A second look, at the socket itself: whatever Node or undici did between, it ended at a checked address or nowhere. */
function handOver(
  socket: Socket,
  addresses: readonly CheckedAddress[],
  callback: buildConnector.Callback,
): void {
  const reached = canonicalAddress(socket.remoteAddress ?? '');
  if (addresses.some(({ address }) => address === reached)) {
    callback(null, socket);
    return;
  }
  socket.destroy();
  const error = new Error('The connection ended at an address that was not checked.');
  callback(Object.assign(error, { code: UNCHECKED_ADDRESS }), null);
}

// Answers what was checked, whatever is asked: there is no second resolution to rebind.
function fixedLookup(addresses: readonly CheckedAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses;
    if (first === undefined) return callback(new Error('No address was checked.'), '');
    if (options.all) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
}
