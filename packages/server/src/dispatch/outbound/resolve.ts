import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isLoopbackAlias } from '../../core/agents/allowlist.ts';
import type { JudgeAddress } from './addresses.ts';

/** All addresses of a name, or a rejection. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

export type CheckedAddress = { address: string; family: 4 | 6 };
export type Resolution =
  | { ok: true; addresses: readonly CheckedAddress[] }
  | { ok: false; kind: 'dns' | 'refused_address' };

/** More than anyone needs, and a bound on how many strangers one answer can make us knock at. */
const MAX_CANDIDATES = 8;

export type ResolveRule = { loopback: boolean; lookup: Lookup; judge: JudgeAddress };

/** Every address in the answer must pass: a mixed answer is an attack or a mistake, and neither is dialled. */
export async function resolveChecked(hostname: string, rule: ResolveRule): Promise<Resolution> {
  if (isLoopbackAlias(hostname)) return { ok: false, kind: 'refused_address' };
  const found = await findAddresses(hostname, rule);
  if (found.length === 0) return { ok: false, kind: 'dns' };
  const addresses: CheckedAddress[] = [];
  for (const ip of found) {
    const verdict = rule.judge(ip, { allowLoopback: rule.loopback });
    if (!verdict.allowed) return { ok: false, kind: 'refused_address' };
    addresses.push({ address: verdict.address, family: verdict.family });
  }
  return { ok: true, addresses: addresses.slice(0, MAX_CANDIDATES) };
}

async function findAddresses(hostname: string, rule: ResolveRule): Promise<readonly string[]> {
  // Node calls no lookup for literals, so they take the same way as an answer from DNS.
  const literal = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(literal) !== 0) return [literal];
  // RFC 6761: never a question for DNS.
  if (hostname === 'localhost') return ['127.0.0.1', '::1'];
  try {
    return await rule.lookup(hostname);
  } catch {
    return [];
  }
}

/**
 * Asks DNS directly. Not `dns.lookup`: that runs getaddrinfo on the thread pool, where two names with dead name servers
 * hold up everybody's lookups. The price is that /etc/hosts is not read, which names public receivers on no machine.
 */
export function dnsLookup(makeResolver: () => Resolver = systemResolver): Lookup {
  let resolver = makeResolver();
  return async (hostname) => {
    const asked = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = asked.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    // A resolver keeps the name servers it was made with; after a failure read the system's again (a laptop moves).
    if (found.length === 0) resolver = makeResolver();
    return found;
  };
}

function systemResolver(): Resolver {
  return new Resolver({ timeout: 3000, tries: 2 });
}
