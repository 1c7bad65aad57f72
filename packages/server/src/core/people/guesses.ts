import { Fault } from '../faults.ts';
import { type Bucket, fromBucket, give, type Rate, take, toBucket } from '../rate.ts';
import type { Room } from '../room.ts';
import { type HeadName, SERVER, type Tx } from '../store.ts';
import { foldEmail } from './person.ts';

/**
 * Guesses at a password are counted by account and address together, by address, and by account: the first is tight,
 * the last loose, so that nobody can lock a person out from afar. Only wrong passwords count (D3).
 */
const LIMITS = [
  { name: 'pair', rate: { perHour: 30, burst: 10 } },
  { name: 'address', rate: { perHour: 200, burst: 50 } },
  { name: 'account', rate: { perHour: 100, burst: 100 } },
] as const satisfies readonly { name: string; rate: Rate }[];

type Guess = { head: HeadName; rate: Rate };
export type PaidGuess = readonly Guess[];

/**
 * Pays for one guess, or says how long to wait. It is paid before the password is checked, so that many guesses at
 * once are counted like guesses in a row.
 */
export async function payGuess(
  room: Room,
  who: { email: string; address: string },
): Promise<PaidGuess | Fault> {
  const guesses = guessesFor(room, foldEmail(who.email), who.address);
  const now = room.clock.now();
  const wait = await onHeads(room, guesses, async (tx) => {
    const takes = await Promise.all(
      guesses.map(async ({ head, rate }) => take(toBucket(await tx.heads.get(head), rate, now), rate, now)),
    );
    const waits = takes.map((taken) => (taken.kind === 'empty' ? taken.retryAfterSeconds : 0));
    if (waits.every((seconds) => seconds === 0)) {
      for (const [i, taken] of takes.entries()) {
        if (taken.kind === 'taken') put(tx, guesses[i], taken.bucket);
      }
    }
    return Math.max(...waits);
  });
  return wait === 0 ? guesses : tooManyGuesses(wait);
}

/**
 * A right guess gets its price back. A wrong one is written too, unchanged: otherwise the missing commit could be
 * measured from outside.
 */
export function settleGuess(room: Room, guesses: PaidGuess, right: boolean): Promise<void> {
  const now = room.clock.now();
  return onHeads(room, guesses, async (tx) => {
    for (const guess of guesses) {
      const bucket = toBucket(await tx.heads.get(guess.head), guess.rate, now);
      put(tx, guess, right ? give(bucket, guess.rate, now) : bucket);
    }
  });
}

function guessesFor(room: Room, email: string, address: string): Guess[] {
  const subject = { pair: `${email}\n${address}`, address, account: email };
  return LIMITS.map(({ name, rate }) => ({
    // Hashed: who tried to log in is nobody's business.
    head: `login:${name}:${room.vault.sha256(subject[name]).slice(0, 32)}` as const,
    rate,
  }));
}

function onHeads<T>(room: Room, guesses: PaidGuess, work: (tx: Tx) => Promise<T>): Promise<T> {
  return room.store.write(
    SERVER,
    guesses.map((g) => g.head),
    work,
  );
}

function put(tx: Tx, guess: Guess | undefined, bucket: Bucket): void {
  if (guess !== undefined) tx.heads.set(guess.head, fromBucket(bucket));
}

function tooManyGuesses(retryAfter: number): Fault {
  const message = `Too many wrong passwords. Wait ${retryAfter} s, then try again.`;
  return new Fault('rate_limited', message, { retryAfter });
}
