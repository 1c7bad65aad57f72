import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { entry, ShortMemory } from '../../core/maps.ts';

/** Which addresses may be dialled (W21): ordinary global unicast, and loopback where the caller says so. */
export type AddressVerdict =
  | { allowed: true; address: string; family: 4 | 6 }
  /** `reason` names the special range; it is for the record, never for the outside. */
  | { allowed: false; reason: string };

export type JudgeAddress = (ip: string, rule: { allowLoopback: boolean }) => AddressVerdict;

type Address = ipaddr.IPv4 | ipaddr.IPv6;

// What ipaddr.js 2.5 calls plain unicast and is not.
const V4_EXTRAS = {
  // The Azure host agent hands out machine credentials on a routable address.
  platform: ipaddr.IPv4.parseCIDR('168.63.129.16/32'),
};
const V6_EXTRAS = {
  // RFC 4291 2.5.5.1, deprecated. A stack that still unwraps it would dial the IPv4 address inside.
  ipv4Compatible: ipaddr.IPv6.parseCIDR('::/96'),
};
// IANA gives out global unicast from here only; what lies outside is unassigned or special.
const V6_GLOBAL = ipaddr.IPv6.parseCIDR('2000::/3');

/** Judges one address as a resolver or `new URL()` spells it, without brackets. */
export const judgeAddress: JudgeAddress = (ip, { allowLoopback }) => {
  const { range, spelled, family } = entry(known, ip, () => read(ip));
  const isAllowed = range === 'unicast' || (allowLoopback && range === 'loopback');
  return isAllowed ? { allowed: true, address: spelled, family } : { allowed: false, reason: range };
};

/** The address is judged for every request; what an address is does not change. */
const known = new ShortMemory<string, Read>(1_000);

/** `spelled` is the one to dial, so that nobody parses the original again, differently. */
type Read = { range: string; spelled: string; family: 4 | 6 };

function read(ip: string): Read {
  if (!isPlain(ip)) return { range: 'notAnAddress', spelled: '', family: 4 };
  const address = unwrap(ip);
  return { range: rangeOf(address), spelled: address.toString(), family: isV4(address) ? 4 : 6 };
}

/** One spelling per address, mapped forms unwrapped; null when it is no plain address. */
export function canonicalAddress(ip: string): string | null {
  return isPlain(ip) ? unwrap(ip).toString() : null;
}

// net.isIP is stricter than ipaddr.js, which also reads 0177.1 or 0x7f000001. A zone id is never part of a public one.
function isPlain(ip: string): boolean {
  return isIP(ip) !== 0 && !ip.includes('%');
}

// ::ffff:a.b.c.d is the IPv4 address, also for the kernel. ::a.b.c.d is not, but ipaddr.js reads it so when it is
// written with dots; in hexadecimal it reads what is there.
function unwrap(ip: string): Address {
  const dotted = ip.includes(':') && ip.includes('.');
  return ipaddr.process(dotted ? new URL(`http://[${ip}]/`).hostname.slice(1, -1) : ip);
}

function isV4(address: Address): address is ipaddr.IPv4 {
  return address.kind() === 'ipv4';
}

function rangeOf(address: Address): string {
  const range = address.range();
  if (range !== 'unicast') return range;
  if (isV4(address)) return address.match(V4_EXTRAS.platform) ? 'platform' : range;
  if (address.match(V6_EXTRAS.ipv4Compatible)) return 'ipv4Compatible';
  if (!address.match(V6_GLOBAL)) return 'unassigned';
  return isIsatap(address) ? 'isatap' : range;
}

// RFC 5214: an IPv4 address, private ones too, in the last half of any prefix. No CIDR can say that.
function isIsatap(address: ipaddr.IPv6): boolean {
  const [high = 0, low = 0] = address.parts.slice(4, 6);
  return (high & 0xfdff) === 0 && low === 0x5efe;
}
