import { Fault } from '../../faults.ts';
import { type Bucket, fromBucket, give, type Rate, type Taken, take, toBucket } from '../../rate.ts';
import type { Room } from '../../room.ts';
import { type HeadName, SERVER, type Tx } from '../../store.ts';
import type { Micros } from '../../time.ts';
import { foldEmail } from '../person.ts';

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

/** Who guesses, and at whose password. A passkey is guessed at nobody's: then only the address counts. */
export type Guesser = { email: string | null; address: string };

type Guess = { head: HeadName; rate: Rate };
export type PaidGuess = { counted: readonly Guess[]; place: HeadName };

/**
 * Pays for one guess, or says how long to wait. It is paid before the password is checked, so that many guesses at once
 * are no cheaper than one after the other. Having to wait is answered without a write, so that a stranger's refused
 * guesses fill no table.
 */
export async function payGuess(room: Room, who: Guesser): Promise<PaidGuess | Fault> {
  const now = room.clock.now();
  const looked = await room.store.read(SERVER, async (tx) => {
    const guess = await guessOf(room, tx, who);
    return { guess, wait: waitOf(await takeAll(tx, guess.counted, now)) };
  });
  const { counted } = looked.guess;
  const pay = async (tx: Tx) => {
    const takes = await takeAll(tx, counted, now);
    const wait = waitOf(takes);
    if (wait > 0) return wait;
    for (const [i, taken] of takes.entries()) if (taken.kind === 'taken') put(tx, counted[i], taken.bucket);
    return 0;
  };
  const wait = looked.wait > 0 ? looked.wait : await onHeads(room, headsOf(counted), pay);
  return wait === 0 ? looked.guess : tooManyGuesses(wait);
}

function takeAll(tx: Tx, guesses: readonly Guess[], now: Micros): Promise<Taken[]> {
  return Promise.all(
    guesses.map(async ({ head, rate }) => take(toBucket(await tx.heads.get(head), rate, now), rate, now)),
  );
}

function waitOf(takes: readonly Taken[]): number {
  return Math.max(...takes.map((taken) => (taken.kind === 'empty' ? taken.retryAfterSeconds : 0)));
}

/**
 * A right guess gets its price back. A wrong one is written too, unchanged: otherwise the missing commit could be
 * measured from outside.
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

async function guessOf(room: Room, tx: Tx, { email, address }: Guesser): Promise<PaidGuess> {
  const account = email === null ? null : foldEmail(email);
  const pair = `${account ?? ''}\n${address}`;
  const subjects = { pair, address, account: account ?? '' };
  const place = headOf(room, 'known', pair);
  const countsAccount = account !== null && (await tx.heads.get(place)) === null;
  const counted = LIMITS.filter(({ name }) => countsAccount || name !== 'account').map(({ name, rate }) => ({
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
