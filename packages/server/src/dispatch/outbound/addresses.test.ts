import ipaddr from 'ipaddr.js';
import { describe, expect, test } from 'vitest';
import { canonicalAddress, judgeAddress } from './addresses.ts';

/** As a URL carries it: normalised by `new URL()`, brackets taken off. */
function verdictOnHost(host: string, allowLoopback = false): string {
  const url = `https://${host}/`;
  if (!URL.canParse(url)) return 'not a URL';
  const verdict = judgeAddress(new URL(url).hostname.replace(/^\[|\]$/g, ''), { allowLoopback });
  return verdict.allowed ? verdict.address : verdict.reason;
}

describe('hosts in URLs', () => {
  test.each([
    // This machine, in every spelling that inet_aton and browsers know.
    ['127.0.0.1', 'loopback'],
    ['127.1', 'loopback'],
    ['127.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['2130706433', 'loopback'],
    ['017700000001', 'loopback'],
    ['0177.0.0.1', 'loopback'],
    ['0x7f000001', 'loopback'],
    ['0x7F.1', 'loopback'],
    ['0x7f.0x0.0x0.0x1', 'loopback'],
    ['127.0.0.1.', 'loopback'],
    ['１２７.０.０.１', 'loopback'],
    ['①②⑦.⓪.⓪.①', 'loopback'],
    ['%31%32%37.0.0.1', 'loopback'],
    ['127。0。0。1', 'loopback'],
    ['[::1]', 'loopback'],
    ['[0:0:0:0:0:0:0:1]', 'loopback'],
    ['[0000::0001]', 'loopback'],
    ['[::ffff:127.0.0.1]', 'loopback'],
    ['[::ffff:7f00:1]', 'loopback'],
    ['[::127.0.0.1]', 'ipv4Compatible'],
    ['[::ffff:0:127.0.0.1]', 'rfc6145'],
    ['0', 'unspecified'],
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['[::]', 'unspecified'],
    ['[::ffff:0.0.0.0]', 'unspecified'],
    // Private networks.
    ['10.0.0.1', 'private'],
    ['10.255.255.255', 'private'],
    ['167772161', 'private'],
    ['012.0.0.1', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['0xc0a80101', 'private'],
    ['192.168.257', 'private'],
    ['[::ffff:10.0.0.1]', 'private'],
    ['[::ffff:c0a8:0101]', 'private'],
    ['100.64.0.1', 'carrierGradeNat'],
    ['100.127.255.255', 'carrierGradeNat'],
    ['[fc00::1]', 'uniqueLocal'],
    ['[fdff:ffff::1]', 'uniqueLocal'],
    ['[fec0::1]', 'deprecatedSiteLocal'],
    ['169.254.0.1', 'linkLocal'],
    ['[fe80::1]', 'linkLocal'],
    ['[febf::1]', 'linkLocal'],
    ['[fe80::1%25eth0]', 'not a URL'],
    ['[fe80::1%eth0]', 'not a URL'],
    // Where clouds hand out credentials.
    ['169.254.169.254', 'linkLocal'],
    ['2852039166', 'linkLocal'],
    ['0xa9fea9fe', 'linkLocal'],
    ['0251.0376.0251.0376', 'linkLocal'],
    ['[::ffff:169.254.169.254]', 'linkLocal'],
    ['169.254.170.2', 'linkLocal'],
    ['[fd00:ec2::254]', 'uniqueLocal'],
    ['[fd20:ce::254]', 'uniqueLocal'],
    ['100.100.100.200', 'carrierGradeNat'],
    ['192.0.0.192', 'reserved'],
    ['168.63.129.16', 'platform'],
    ['[::ffff:168.63.129.16]', 'platform'],
    // Special uses.
    ['224.0.0.1', 'multicast'],
    ['239.255.255.250', 'multicast'],
    ['[ff02::1]', 'multicast'],
    ['[ff0e::1]', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.254', 'reserved'],
    ['255.255.255.255', 'broadcast'],
    ['4294967295', 'broadcast'],
    ['192.0.0.1', 'reserved'],
    ['192.0.2.1', 'reserved'],
    ['198.51.100.1', 'reserved'],
    ['203.0.113.1', 'reserved'],
    ['198.18.0.1', 'reserved'],
    ['198.19.255.255', 'reserved'],
    ['192.88.99.1', 'reserved'],
    ['192.31.196.1', 'as112'],
    ['192.175.48.1', 'as112'],
    ['192.52.193.1', 'amt'],
    ['[100::1]', 'discard'],
    ['[64:ff9b::127.0.0.1]', 'rfc6052'],
    ['[64:ff9b::8.8.8.8]', 'rfc6052'],
    ['[64:ff9b:1::1]', 'rfc6052'],
    ['[2002:7f00:1::]', '6to4'],
    ['[2002:808:808::1]', '6to4'],
    ['[2001:0:4136:e378:8000:63bf:3fff:fdd2]', 'teredo'],
    ['[2001:2::1]', 'benchmarking'],
    ['[2001:3::1]', 'amt'],
    ['[2001:4:112::1]', 'as112v6'],
    ['[2620:4f:8000::1]', 'as112v6'],
    ['[2001:10::1]', 'deprecatedOrchid'],
    ['[2001:20::1]', 'orchid2'],
    ['[2001:30::1]', 'droneRemoteIdProtocolEntityTags'],
    ['[2001:1::1]', 'reserved'],
    ['[2001:db8::1]', 'reserved'],
    ['[3fff::1]', 'reserved'],
    ['[5f00::1]', 'segmentRouting'],
    ['[4000::1]', 'unassigned'],
    ['[1::1]', 'unassigned'],
    ['[100:0:0:1::1]', 'unassigned'],
    ['[::8.8.8.8]', 'ipv4Compatible'],
    ['[2606:4700::5efe:10.0.0.1]', 'isatap'],
    ['[2606:4700::200:5efe:a00:1]', 'isatap'],
    // Not addresses, whatever they resemble.
    ['256.0.0.1', 'not a URL'],
    ['1.2.3.4.5', 'not a URL'],
    ['127.0.0.1.nip.io', 'notAnAddress'],
    ['localhost', 'notAnAddress'],
    ['xn--bcher-kva.example', 'notAnAddress'],
    ['bücher.example', 'notAnAddress'],
  ])('[W21] %s is not dialled: %s', (host, reason) => {
    expect(verdictOnHost(host)).toBe(reason);
  });

  test.each([
    ['8.8.8.8', '8.8.8.8'],
    ['134744072', '8.8.8.8'],
    ['1.1', '1.0.0.1'],
    ['9.255.255.255', '9.255.255.255'],
    ['11.0.0.0', '11.0.0.0'],
    ['100.63.255.255', '100.63.255.255'],
    ['100.128.0.0', '100.128.0.0'],
    ['126.255.255.255', '126.255.255.255'],
    ['128.0.0.0', '128.0.0.0'],
    ['169.253.255.255', '169.253.255.255'],
    ['172.15.255.255', '172.15.255.255'],
    ['172.32.0.0', '172.32.0.0'],
    ['192.167.255.255', '192.167.255.255'],
    ['198.20.0.0', '198.20.0.0'],
    ['223.255.255.255', '223.255.255.255'],
    ['[::ffff:8.8.8.8]', '8.8.8.8'],
    ['[2606:4700:4700::1111]', '2606:4700:4700::1111'],
    ['[2A00:1450:4001:0800:0:0:0:200E]', '2a00:1450:4001:800::200e'],
    ['[2001:200::1]', '2001:200::1'],
    ['[2003::1]', '2003::1'],
  ])('[W21] %s is ordinary and dialled as %s', (host, address) => {
    expect(verdictOnHost(host)).toBe(address);
  });
});

describe('addresses from a resolver', () => {
  test.each([
    'fe80::1%eth0',
    '2606:4700:4700::1111%eth0',
    '::1%lo',
    '010.0.0.1',
    '127.1',
    '0x7f000001',
    '2130706433',
    '8.8.8.8 ',
    '8.8.8.8.',
    '[2606:4700::1]',
    '8.8.8.8:53',
    '8.8.8.8/32',
    '',
  ])('[W21] %j is no plain address, and what is unclear is refused', (ip) => {
    expect(judgeAddress(ip, { allowLoopback: true })).toEqual({ allowed: false, reason: 'notAnAddress' });
  });

  test('[W21] loopback is dialled only where the caller allows it', () => {
    for (const ip of ['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1']) {
      expect(judgeAddress(ip, { allowLoopback: false }).allowed).toBe(false);
      expect(judgeAddress(ip, { allowLoopback: true }).allowed).toBe(true);
    }
    for (const ip of ['0.0.0.0', '::', '10.0.0.1', '169.254.169.254', 'fd00:ec2::254', '::127.0.0.1']) {
      expect(judgeAddress(ip, { allowLoopback: true }).allowed).toBe(false);
    }
  });

  test('[W21] the verdict carries the family and one spelling', () => {
    expect(judgeAddress('::FFFF:1.2.3.4', { allowLoopback: false })).toEqual({
      allowed: true,
      address: '1.2.3.4',
      family: 4,
    });
    expect(judgeAddress('2606:4700:0:0::1', { allowLoopback: false })).toEqual({
      allowed: true,
      address: '2606:4700::1',
      family: 6,
    });
    expect(canonicalAddress('::ffff:1.2.3.4')).toBe('1.2.3.4');
    expect(canonicalAddress('::1.2.3.4')).toBe('::102:304');
    expect(canonicalAddress('nonsense')).toBeNull();
  });

  test('[W21] an address written with dots is judged like the same one in hexadecimal', () => {
    for (const ip of ['::8.8.8.8', '::127.0.0.1', '64:ff9b::8.8.8.8', '::ffff:0:8.8.8.8', '2002::8.8.8.8']) {
      expect(judgeAddress(ip, { allowLoopback: true }).allowed, ip).toBe(false);
    }
  });

  test('[W21] no special range of ipaddr.js is let through, in whole', () => {
    const specials = [ipaddr.IPv4, ipaddr.IPv6].flatMap((kind) => {
      const ranges: unknown = Reflect.get(kind.prototype, 'SpecialRanges');
      return Object.values(ranges as Record<string, unknown[]>).flatMap((r) =>
        Array.isArray(r[0]) ? r : [r],
      );
    }) as [ipaddr.IPv4 | ipaddr.IPv6, number][];
    expect(specials.length).toBeGreaterThan(30);
    for (const [first] of specials) {
      // The mapped range stands for IPv4 as a whole; its first address is 0.0.0.0.
      expect(judgeAddress(first.toString(), { allowLoopback: false }).allowed, first.toString()).toBe(false);
    }
  });
});
