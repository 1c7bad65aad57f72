import { Fault } from '../faults.ts';
import { type Bucket, fromBucket, give, type Rate, take, toBucket } from '../rate.ts';
import type { Room } from '../room.ts';
import { type HeadName, SERVER, type Tx } from '../store.ts';
import { foldEmail } from './person.ts';

/**
 * Guesses at a password are counted by account and address together, by address, and by account: the first is tight,
 * the last loose. Only wrong passwords count (D3). From where the right one came lately the last does not hold: whoever
 * has many addresses could keep it empty, and so keep a person out for as long as they like.
 */
const LIMITS = [
  { name: 'pair', rate: { perHour: 30, burst: 10 } },
  { name: 'address', rate: { perHour: 200, burst: 50 } },
  { name: 'account', rate: { perHour: 100, burst: 100 } },
] as const satisfies readonly { name: string; rate: Rate }[];

type Guess = { head: HeadName; rate: Rate };
export type PaidGuess = { counted: readonly Guess[]; place: HeadName };

/**
 * Pays for one guess, or says how long to wait. It is paid before the password is looked at, so that many at once are
 * no more than one after the other.
 */
export async function payGuess(
  room: Room,
  who: { email: string; address: string },
): Promise<PaidGuess | Fault> {
  const guess = await guessOf(room, foldEmail(who.email), who.address);
  const { counted } = guess;
  const now = room.clock.now();
  const wait = await onHeads(room, headsOf(counted), async (tx) => {
    const takes = await Promise.all(
      counted.map(async ({ head, rate }) => take(toBucket(await tx.heads.get(head), rate, now), rate, now)),
    );
    const waits = takes.map((taken) => (taken.kind === 'empty' ? taken.retryAfterSeconds : 0));
    if (waits.every((seconds) => seconds === 0)) {
      for (const [i, taken] of takes.entries()) {
        if (taken.kind === 'taken') put(tx, counted[i], taken.bucket);
      }
    }
    return Math.max(...waits);
  });
  return wait === 0 ? guess : tooManyGuesses(wait);
}

/**
 * A right guess gets its price back. A wrong one is written as it is: a commit that only one of the two makes could
 * be measured from outside.
 */
export function settleGuess(room: Room, { counted, place }: PaidGuess, right: boolean): Promise<void> {
  const now = room.clock.now();
  return onHeads(room, [...headsOf(counted), ...(right ? [place] : [])], async (tx) => {
    for (const guess of counted) {
      const bucket = toBucket(await tx.heads.get(guess.head), guess.rate, now);
      put(tx, guess, right ? give(bucket, guess.rate, now) : bucket);
    }
    if (!right) return;
    await tx.heads.get(place);
    tx.heads.set(place, { n: 1, at: now, text: '' });
  });
}

async function guessOf(room: Room, email: string, address: string): Promise<PaidGuess> {
  const pair = `${email}\n${address}`;
  const subjects = { pair, address, account: email };
  const place = headOf(room, 'known', pair);
  const isKnown = (await room.store.read(SERVER, (tx) => tx.heads.get(place))) !== null;
  const counted = LIMITS.filter(({ name }) => !isKnown || name !== 'account').map(({ name, rate }) => ({
    head: headOf(room, name, subjects[name]),
    rate,
  }));
  return { counted, place };
}

/** Hashed: an address book of who tried to log in is nobody's business. */
function headOf(room: Room, name: string, subject: string): HeadName {
  return `login:${name}:${room.vault.sha256(subject).slice(0, 32)}`;
}

function headsOf(guesses: readonly Guess[]): HeadName[] {
  return guesses.map(({ head }) => head);
}

function onHeads<T>(room: Room, heads: readonly HeadName[], work: (tx: Tx) => Promise<T>): Promise<T> {
  return room.store.write(SERVER, heads, work);
}

function put(tx: Tx, guess: Guess | undefined, bucket: Bucket): void {
  if (guess !== undefined) tx.heads.set(guess.head, fromBucket(bucket));
}

function tooManyGuesses(retryAfter: number): Fault {
  const message = `Too many wrong passwords. Wait ${retryAfter} s, then try again.`;
  return new Fault('rate_limited', message, { retryAfter });
}
