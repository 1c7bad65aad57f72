import { expect, test } from 'vitest';
import { BorrowedTurns, LendingTurns } from './turns.ts';

/** Both sides, joined as by a wire that takes a moment. */
function pair() {
  const later = (work: () => void) => void setImmediate(work);
  const borrower = new BorrowedTurns();
  const lender = new LendingTurns(() => later(() => borrower.granted()));
  borrower.setLender({
    ask: () => later(() => lender.asked()),
    giveBack: () => later(() => lender.returned()),
  });
  return { borrower, lender };
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('[D26] two writers never have the turn at once, and both get ahead', async () => {
  const { borrower, lender } = pair();
  const order: string[] = [];
  let writing = 0;
  const write = async (turns: BorrowedTurns | LendingTurns, name: string) => {
    for (let i = 0; i < 20; i++) {
      await turns.take();
      expect(++writing).toBe(1);
      order.push(name);
      await nextTurn();
      writing--;
      turns.give();
    }
  };
  await Promise.all([write(borrower, 'borrower'), write(lender, 'lender')]);
  // A busy lender hands over after each batch when it is asked: nobody waits for a crowd to pass.
  expect(order.indexOf('borrower')).toBeLessThan(5);
});

test('[D26] with nobody to ask it is always the turn', async () => {
  const turns = new BorrowedTurns();
  await turns.take();
  turns.give();
  await turns.take();
  turns.give();
});

test('[D26] a lender that goes away grants what it was asked for', async () => {
  const turns = new BorrowedTurns();
  const asked: string[] = [];
  turns.setLender({ ask: () => asked.push('ask'), giveBack: () => asked.push('back') });
  const waiting = turns.take();
  turns.setLender(null);
  await waiting;
  turns.give();
  expect(asked).toEqual(['ask']);
});
