import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createSecureContext } from 'node:tls';
import ipaddr from 'ipaddr.js';
import { UsageError } from '../../config.ts';
import { entry, ShortMemory } from '../../core/maps.ts';

/** Which proxies are believed, as addresses and ranges. */
export type Proxies = readonly [ipaddr.IPv4 | ipaddr.IPv6, number][];

export function parseProxies(entries: readonly string[]): Proxies {
  return entries.map((entry) => {
    if (/\/0+$/.test(entry))
      throw new UsageError(
        `LANTERNROOM_TRUST_PROXY: "${entry}" would trust everybody. Name the proxy's own address or range.`,
      );
    try {
      if (entry.includes('/')) return ipaddr.parseCIDR(entry);
      const address = ipaddr.process(entry);
      return [address, address.kind() === 'ipv4' ? 32 : 128];
    } catch {
      throw new UsageError(
        `LANTERNROOM_TRUST_PROXY: "${entry}" is neither an address nor a range such as 10.0.0.0/8.`,
      );
    }
  });
}

function isTrusted(proxies: Proxies, address: string | undefined): boolean {
  if (address === undefined || !ipaddr.isValid(address)) return false;
  const remote = ipaddr.process(address);
  return proxies.some((range) => range[0].kind() === remote.kind() && remote.match(range as never));
}

/** Remembered, because parsing an address takes longer than all other checks of a request together. */
const loopbackByAddress = new ShortMemory<string, boolean>(1_000);

export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  return entry(
    loopbackByAddress,
    address,
    () => ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback',
  );
}

/** A host name or address that only this machine can reach. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || isLoopback(host);
}

/**
 * The unit that a limit counts. One IPv6 customer has a whole /64 of addresses, and some proxies append the client's
 * port.
 */
export function networkOf(address: string): string {
  const bare = address.replace(/^\[(.+)\](?::\d+)?$|^([\d.]+):\d+$/, '$1$2');
  if (!ipaddr.isValid(bare)) return bare;
  const known = ipaddr.process(bare);
  if (known instanceof ipaddr.IPv4) return known.toString();
  const [a = 0, b = 0, c = 0, d = 0] = known.parts;
  return `${[a, b, c, d].map((part) => part.toString(16)).join(':')}::/64`;
}

export type Binding = { host: string; tls: boolean; proxies: Proxies };

/** https, or plain HTTP that never left this machine (W2). */
export function isPrivate(request: IncomingMessage, binding: Binding): boolean {
  if (binding.tls) return true;
  const remote = request.socket.remoteAddress;
  if (binding.proxies.length > 0 && isTrusted(binding.proxies, remote)) {
    const forwarded = request.headers['x-forwarded-proto'];
    if (forwarded !== undefined) return String(forwarded).split(',').at(-1)?.trim().toLowerCase() === 'https';
  }
  return isLoopbackHost(binding.host) && isLoopback(remote);
}

/** The outermost protocol, as cookies need it. */
export function isHttps(request: IncomingMessage, binding: Binding): boolean {
  if (binding.tls) return true;
  const trusted = isTrusted(binding.proxies, request.socket.remoteAddress);
  return trusted && /(^|,)\s*https\s*$/i.test(String(request.headers['x-forwarded-proto'] ?? ''));
}

/** Reads certificate and key, and checks that they belong together. */
export function readCertificate(files: { cert: string; key: string }): { cert: Buffer; key: Buffer } {
  const pair = { cert: readPem('--tls-cert', files.cert), key: readPem('--tls-key', files.key) };
  try {
    createSecureContext(pair);
    return pair;
  } catch {
    throw new UsageError(
      `${files.cert} and ${files.key} must be a certificate and the private key that belongs to it, both PEM.`,
    );
  }
}

function readPem(flag: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    throw new UsageError(`${flag} names ${file}, which cannot be read.`);
  }
}

/** Off loopback there must be TLS or a proxy that has it; otherwise keys would travel in the clear. */
export function assertSafeBinding(binding: Binding): void {
  if (binding.tls || binding.proxies.length > 0 || isLoopbackHost(binding.host)) return;
  throw new UsageError(
    [
      `Listening on ${binding.host} without TLS would send keys and decisions in the clear. Choose one:`,
      '  1. listen on this machine only:        --host 127.0.0.1',
      '  2. bring a certificate:                --tls-cert cert.pem --tls-key key.pem',
      '  3. name the TLS proxy in front of it:  --trust-proxy 10.0.0.5',
    ].join('\n'),
  );
}
