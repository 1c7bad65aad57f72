import { createWake, memoryLog } from '@lanternroom/sdk/wake';
import { isLoginExposed, loginFile, readLogin } from '../login-file.ts';
import { baseOf, type Card, readCard } from '../server-card.ts';
import { type Access, openLog, readAccess } from '../settings.ts';
import { ownVersion } from '../version.ts';
import { EXIT, type World } from '../world.ts';

interface Finding {
  readonly ok: boolean;
  readonly text: string;
}

// Signatures older than five minutes are refused; this warns before that happens.
const MOST_SKEW_MS = 60_000;
/** The major version of WAKE that this program speaks. */
const SPOKEN = 'v1';

export interface DoctorFlags {
  readonly json?: boolean;
}

/** Checks everything between this machine and the server, and says what to do about whatever is wrong. */
export async function doctor(flags: DoctorFlags, world: World): Promise<number> {
  const findings: Finding[] = [{ ok: true, text: `lantern ${ownVersion()}, Node ${process.versions.node}` }];
  await examine(world, (finding) => findings.push(finding));
  const isWell = findings.every(({ ok }) => ok);
  const shown = findings.map(({ ok, text }) => ({ ok, what: text }));
  if (flags.json) world.out(`${JSON.stringify({ ok: isWell, findings: shown })}\n`);
  else for (const { ok, what } of shown) world.out(`${ok ? 'ok  ' : 'BAD '} ${what}\n`);
  return isWell ? EXIT.done : EXIT.failed;
}

async function examine(world: World, note: (finding: Finding) => void): Promise<void> {
  const good = (text: string) => note({ ok: true, text });
  const bad = (text: string) => note({ ok: false, text });
  await judgeLog(world, { good, bad });
  try {
    const access = readAccess(world);
    good(origins(access, world));
    if (readLogin(world) !== null && isLoginExposed(world)) {
      bad(`${loginFile(world)} can be read by others: run "chmod 600" on it, or "lantern login" again`);
    }
    // Throws for plain http to another machine, and for a live key over plain http.
    createWake({ url: access.url, apiKey: access.apiKey, log: memoryLog() });
    good(`${access.url} is safe to send the key to`);
    const card = await readCard(access, world.clock);
    good('the server is there');
    judgeKey(card, access, { good, bad });
    judgeClock(card, { good, bad });
    await judgeVersions(card, access, { good, bad });
  } catch (error) {
    bad(error instanceof Error ? error.message : String(error));
  }
}

interface Notes {
  readonly good: (text: string) => void;
  readonly bad: (text: string) => void;
}

/** Without the log nothing is delivered, and no later command knows which deliveries are ours. */
async function judgeLog(world: World, { good, bad }: Notes): Promise<void> {
  const { log, isOff } = openLog(world);
  if (isOff) return good('the log is switched off; no later command knows which deliveries are ours');
  try {
    await log.append('{"event":"doctor"}');
    good('the log can be written');
  } catch (error) {
    bad(`${error instanceof Error ? error.message : String(error)} LANTERN_LOG sets it.`);
  }
}

function judgeKey({ agentId, kind }: Card, access: Access, { good, bad }: Notes): void {
  if (agentId === null) bad('the server does not say whose key this is: check the key');
  else if (access.agentId !== undefined && access.agentId !== agentId) {
    bad(
      `the key belongs to ${agentId}, but ${access.agentId} is set: correct WAKE_AGENT_ID, or log in again`,
    );
  } else good(`the key works; the agent is ${agentId}${kind === null ? '' : ` (${kind})`}`);
}

function judgeClock({ skewMs }: Card, { good, bad }: Notes): void {
  if (skewMs === null) return;
  const seconds = Math.round(Math.abs(skewMs) / 1_000);
  const side = skewMs > 0 ? 'behind' : 'ahead of';
  if (Math.abs(skewMs) > MOST_SKEW_MS) {
    bad(`this clock is ${seconds} s ${side} the server's: set it by NTP, or signatures will be refused`);
  } else good('the clocks agree');
}

async function judgeVersions({ versions }: Card, access: Access, { good, bad }: Notes): Promise<void> {
  if (!versions.some((version) => `v${version}`.replace('vv', 'v').split('.')[0] === SPOKEN)) {
    bad(
      `the server speaks WAKE ${versions.join(', ') || 'of no version'}, this program ${SPOKEN}: ${upgrade(versions, access.url)}`,
    );
    return;
  }
  const theirs = await serverVersion(access.url);
  const own = ownVersion();
  if (theirs === null || theirs === own) good(`WAKE ${SPOKEN}${theirs === null ? '' : `, server ${theirs}`}`);
  else {
    const older = isOlder(theirs, own)
      ? 'the server is older: upgrade it'
      : `this program is older: ${install(access.url)}`;
    good(`WAKE ${SPOKEN} works; server ${theirs}, lantern ${own} (${older} to have everything)`);
  }
}

function upgrade(versions: readonly string[], url: string): string {
  const theirs = Number(/\d+/.exec(versions.at(-1) ?? '')?.[0] ?? 0);
  return theirs > Number(SPOKEN.slice(1)) ? `upgrade lantern (${install(url)})` : 'upgrade the server';
}

/** The server offers the command in its own version. */
function install(url: string): string {
  return `npm install -g ${baseOf(url)}/packages/lantern.tgz`;
}

async function serverVersion(url: string): Promise<string | null> {
  const reply = await fetch(`${baseOf(url)}/openapi.json`, { signal: AbortSignal.timeout(10_000) }).catch(
    () => null,
  );
  const body = (await reply?.json().catch(() => null)) as { info?: { version?: unknown } } | null | undefined;
  return typeof body?.info?.version === 'string' ? body.info.version : null;
}

function isOlder(one: string, other: string): boolean {
  const [left, right] = [one, other].map((version) => version.split(/[.-]/).map(Number));
  const at = left?.findIndex((part, index) => part !== right?.[index]) ?? -1;
  return at >= 0 && (left?.[at] ?? 0) < (right?.[at] ?? 0);
}

/** Where key and address come from; if nobody gave an address, that is a likely reason why nothing answers. */
function origins({ apiKey, url }: Access, world: World): string {
  const { WAKE_API_KEY, LANTERN_URL, WAKE_ENDPOINT } = world.env;
  if (WAKE_API_KEY?.trim() !== apiKey) return `key and address from ${loginFile(world)}`;
  if ([LANTERN_URL, WAKE_ENDPOINT].some((given) => given?.trim() === url)) {
    return 'key and address from the environment';
  }
  return readLogin(world)?.url === url
    ? `key from the environment, address from ${loginFile(world)}`
    : `key from the environment; LANTERN_URL is not set, so the address is ${url}`;
}
