import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Config } from '../config.ts';
import { assertSafeBinding, parseProxies, readCertificate } from '../http/entry/transport.ts';

/** Refuses an address that the settings alone show to be wrong. */
export function assertAddress({ host, tlsCert: cert, tlsKey: key, trustProxy }: Config): void {
  const tls = cert !== null && key !== null;
  assertSafeBinding({ host, tls, proxies: parseProxies(trustProxy) });
  if (tls) readCertificate({ cert, key });
}

/** Refuses an address that cannot be bound, by binding it once. Nothing is served. */
export async function assertCanListen({ host, port }: Config): Promise<void> {
  const probe = createServer().listen(port, host);
  await once(probe, 'listening');
  probe.close();
  await once(probe, 'close');
}

export function explainListen(reason: unknown, { port, host }: Config): unknown {
  const code = reason instanceof Error && 'code' in reason ? reason.code : null;
  if (code === 'EADDRINUSE')
    return new Error(
      `Port ${port} on ${host} is taken. Stop the other program, or choose another with --port.`,
    );
  if (code === 'EACCES')
    return new Error(`Port ${port} needs more rights than this user has. Choose one above 1023 with --port.`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new Error(`This machine has no address ${host}. Choose another with --host.`);
  return reason;
}
