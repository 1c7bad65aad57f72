import { beforeAll, describe, expect, test } from 'vitest';
import { addKey, revokeKeys } from '../core/agents/keys.ts';
import { orThrow } from '../core/faults.ts';
import { addToken, revokeToken } from '../core/people/login/tokens.ts';
import { removePerson } from '../core/people/membership/membership.ts';
import { addCallerToken, revokeCallerToken } from '../core/tasks/callers/callers.ts';
import { DAY } from '../core/time.ts';
import { aCallerToken, changeCard, useWorld } from '../testing/a2a/a2a.ts';
import { Browser } from '../testing/desk/browser.ts';
import { fill } from '../testing/desk/routes.ts';
import { WHO_MAY, type Who } from '../testing/desk/who-may.ts';
import { digests } from '../testing/stores/digests.ts';
import { ManualClock } from '../testing/world.ts';
import type { Route } from './addresses.ts';

const clock = new ManualClock();
const world = useWorld({ clock });

/** What somebody brings along, and where it lets them in. */
type Guest = { headers: Record<string, string>; enters: readonly Who[] };

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function agents(): Promise<Record<string, Guest>> {
  const { room, space, agent: called } = world();
  const at = { space: space.id, agent: called.agent.id };
  const colleague = await world().addAgent({ id: 'agent-02' });
  const other = await world().addSpace('other');
  const stranger = await world().addAgent({ id: 'agent-01', space: other.id });
  const revoked = orThrow(await addKey(room, { ...at, tier: 'live', rotate: false }, 'test'));
  await revokeKeys(room, { ...at, keyId: revoked.keyId }, 'test');
  const left = await world().addAgent({ id: 'agent-03' });
  await addKey(room, { space: space.id, agent: left.agent.id, tier: null, rotate: true }, 'test');
  clock.turn(2 * DAY);
  return {
    'an agent': { headers: bearer(called.key), enters: ['agent', 'caller'] },
    'another agent': { headers: bearer(colleague.key), enters: ['agent', 'caller'] },
    'an agent of another space': { headers: bearer(stranger.key), enters: ['agent'] },
    'a key that was revoked': { headers: bearer(revoked.key), enters: [] },
    'a key that was rotated out': { headers: bearer(left.key), enters: [] },
  };
}

async function people(): Promise<Record<string, Guest>> {
  const { room, owner, token } = world();
  const reader = await world().addPerson('reader@example.com', 'reader');
  const decider = await world().addPerson('decider@example.com', 'decider');
  const removed = await world().addPerson('removed@example.com', 'owner');
  orThrow(await removePerson(room, owner, removed.person.id));
  const ended = orThrow(await addToken(room, owner, 'ended'));
  orThrow(await revokeToken(room, owner, ended.record.id));
  const other = await room.store.directory.spaceByHandle('other');
  if (other === null) throw new Error('there is no other space');
  const stranger = await world().addPerson('stranger@example.com', 'owner', other);
  const all: Who[] = ['reader', 'decider', 'owner', 'first owner', 'caller'];
  return {
    'a reader': { headers: bearer(reader.token), enters: ['reader', 'caller'] },
    'a decider': { headers: bearer(decider.token), enters: ['reader', 'decider', 'caller'] },
    'an owner': { headers: bearer(token), enters: all },
    'an owner of another space': { headers: bearer(stranger.token), enters: ['reader', 'decider', 'owner'] },
    'a person who was removed': { headers: bearer(removed.token), enters: [] },
    'a token that was revoked': { headers: bearer(ended.token), enters: [] },
  };
}

async function sessions(): Promise<Record<string, Guest>> {
  // Of somebody else than the owner above, whose token ends all of their sessions.
  await world().addPerson('sitting@example.com', 'owner');
  const [open, ended] = [new Browser(world()), new Browser(world())];
  for (const browser of [open, ended]) await browser.login('sitting@example.com');
  const cookieOf = (browser: Browser) => ({ cookie: `lanternroom=${browser.cookies.get('lanternroom')}` });
  const old = cookieOf(ended);
  await ended.send('DELETE', '/desk/session');
  return {
    'a session': { headers: cookieOf(open), enters: ['reader', 'decider', 'owner', 'first owner'] },
    'a session that has ended': { headers: old, enters: [] },
  };
}

async function callers(): Promise<Record<string, Guest>> {
  const { room, space, agent } = world();
  await changeCard(world(), agent, { visibility: 'listed' });
  const at = { space: space.id, agent: agent.agent.id };
  const revoked = orThrow(await addCallerToken(room, { ...at, name: 'revoked' }, 'test'));
  orThrow(await revokeCallerToken(room, { ...at, id: revoked.record.id }, 'test'));
  const past = { ...at, name: 'expired', expiresAt: clock.now() - 1 };
  const expired = orThrow(await addCallerToken(room, past, 'test'));
  const elsewhere = { space: space.id, agent: 'agent-02', name: 'of another agent' };
  const other = orThrow(await addCallerToken(room, elsewhere, 'test'));
  return {
    'a caller': { headers: bearer(await aCallerToken(world(), agent)), enters: ['caller'] },
    'a caller of another agent': { headers: bearer(other.token), enters: [] },
    'a caller who was revoked': { headers: bearer(revoked.token), enters: [] },
    'a caller whose time is over': { headers: bearer(expired.token), enters: [] },
  };
}

const letters = 'x'.repeat(38);
const strangers: Record<string, Guest> = {
  'somebody with nothing': { headers: {}, enters: ['everybody', 'visitor', 'producer', 'nobody'] },
  ...Object.fromEntries(
    [`wk_live_${letters}`, `lr_${letters}`, `ct_${letters}`, `st_${letters}`, 'x', 'undefined', 'null'].map(
      (token): [string, Guest] => [`somebody with ${token}`, { headers: bearer(token), enters: [] }],
    ),
  ),
  'somebody with a scheme alone': { headers: { authorization: 'Bearer' }, enters: [] },
};

const guests: Record<string, Guest> = {};
beforeAll(async () => {
  Object.assign(guests, strangers, await agents(), await people(), await sessions(), await callers());
});

const ALL_METHODS = 8;

/** As `WHO_MAY` names them; `*` stands for the methods of an address that has all of them. */
function served(): string[] {
  const byUrl = new Map<string, string[]>();
  for (const { method, url } of world().running.routes as Route[]) {
    if (method === 'HEAD' || url.startsWith('/assets/')) continue;
    byUrl.set(url, [...(byUrl.get(url) ?? []), method]);
  }
  return [...byUrl].flatMap(([url, methods]) =>
    methods.length >= ALL_METHODS ? [`* ${url}`] : methods.map((method) => `${method} ${url}`),
  );
}

const NAMED: Record<string, string> = { handle: 'home', agent: 'agent-01', framework: 'claude-code' };
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

function addressOf(url: string): string {
  const path = url.startsWith('/@')
    ? fill(url.replace('::', '%3A'), (name) => NAMED[name] ?? UNKNOWN)
    : fill(url, (name) => (name === 'framework' ? 'claude-code' : UNKNOWN));
  return path.replace('*', 'nothing') + (path.endsWith('/wait') ? '?timeout_seconds=0' : '');
}

/** AKEP has words and no codes. */
const REFUSALS = ['agent_key_on_desk', 'role_too_low', 'cross_site', 'This token is not valid here.'];

/** Whether somebody was turned away because of who they are. */
async function isRefused(at: string, { headers }: Guest): Promise<boolean> {
  const [method = '', url = ''] = at.replace(/^\*/, 'POST').split(' ');
  const hasBody = method !== 'GET';
  const reply = await fetch(world().url + addressOf(url), {
    method,
    headers: { ...(hasBody ? { 'content-type': 'application/json' } : {}), ...headers },
    ...(hasBody ? { body: '{}' } : {}),
  });
  if (reply.status === 401) return true;
  if (reply.status !== 403) {
    await reply.body?.cancel();
    return false;
  }
  const text = await reply.text();
  return REFUSALS.some((code) => text.includes(code));
}

test('[D5][W1][A21] every address that is served says whom it is for', () => {
  const named = Object.values(WHO_MAY).flat();
  const found = served();
  expect(found.filter((at) => !named.includes(at))).toEqual([]);
  const isPageBuilt = found.includes('GET /');
  if (isPageBuilt) expect(named.filter((at) => !found.includes(at))).toEqual([]);
});

test('[D6] every page that a browser shows is guarded: nobody frames it, and it runs nothing but its own', async () => {
  const urls = WHO_MAY.everybody.map((at) => addressOf(at.slice('GET '.length)));
  let pages = 0;
  for (const url of [...urls, '/index.html', '/nowhere']) {
    const reply = await fetch(world().url + url, { headers: { 'sec-fetch-mode': 'navigate' } });
    await reply.body?.cancel();
    if (!reply.headers.get('content-type')?.startsWith('text/html')) continue;
    pages++;
    const policy = reply.headers.get('content-security-policy') ?? '';
    expect([url, policy]).toEqual([url, expect.stringContaining("frame-ancestors 'none'")]);
    expect([url, policy]).toEqual([url, expect.stringContaining("default-src 'none'")]);
  }
  expect(pages).toBeGreaterThan(0);
});

const PROTECTED: Who[] = ['agent', 'caller', 'reader', 'decider', 'owner', 'first owner'];

describe('whoever comes', () => {
  test.each(PROTECTED)(
    '[D5][D7][W1][A21] to what is for the %s is turned away unless it is theirs',
    async (who) => {
      const before = await digests(world());
      for (const at of WHO_MAY[who]) {
        for (const [name, guest] of Object.entries(guests)) {
          if (guest.enters.includes(who)) continue;
          expect([at, name, await isRefused(at, guest)]).toEqual([at, name, true]);
        }
      }
      expect(await digests(world())).toEqual(before);
    },
  );

  test.each(Object.keys(WHO_MAY) as Who[])(
    '[D5][D7][W1][A21] to what is for the %s gets in when it is',
    async (who) => {
      for (const at of WHO_MAY[who]) {
        for (const [name, guest] of Object.entries(guests)) {
          if (!guest.enters.includes(who) || isAnotherMatter(at, name)) continue;
          expect([at, name, await isRefused(at, guest)]).toEqual([at, name, false]);
        }
      }
    },
  );
});

/** What is refused for another reason than who somebody is. */
function isAnotherMatter(at: string, name: string): boolean {
  // Without a login there is nothing to show: 401 is the answer to a wrong password, too.
  if (WHO_MAY.visitor.includes(at) || WHO_MAY.producer.includes(at)) return true;
  // It ends the token that a guest came by, and nobody would come with it to what follows.
  if (at === 'DELETE /desk/tokens') return true;
  // A script reads metrics, with its token; and who has logged out is out.
  return name === 'a session' && ['GET /metrics', 'DELETE /desk/session'].includes(at);
}
