import { randomBytes, randomUUID } from 'node:crypto';
import type { Ids } from '../core/ids.ts';
import type { Clock } from '../core/time.ts';

const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export const randomIds: Ids = {
  // Fully random, as WAKE demands (W6): a time at the front would let others guess ids.
  uuid: () => randomUUID(),
  timed: (at) => {
    const millis = Math.floor(at / 1000)
      .toString(16)
      .padStart(12, '0');
    return `${millis.slice(0, 8)}-${millis.slice(8)}-7${randomUUID().slice(15)}`;
  },
  letters: (count) => {
    let text = '';
    while (text.length < count) {
      // 248 is the largest multiple of 62 below 256: larger bytes would favour the first letters.
      for (const byte of randomBytes(count * 2)) {
        if (byte < 248 && text.length < count) text += LETTERS.charAt(byte % 62);
      }
    }
    return text;
  },
  base64: (bytes) => randomBytes(bytes).toString('base64'),
  fraction: () => Math.random(),
};

/** Wall time with microseconds: the monotonic clock fills in what Date leaves out. */
export function systemClock(): Clock {
  let offset = Date.now() * 1000 - Math.floor(performance.now() * 1000);
  return {
    now: () => {
      const wall = Date.now() * 1000;
      const fine = Math.floor(performance.now() * 1000) + offset;
      // A step of the wall clock (NTP, suspend) shows as a drift of more than two milliseconds.
      if (Math.abs(fine - wall) > 2000) {
        offset += wall - fine;
        return wall;
      }
      return fine;
    },
  };
}
