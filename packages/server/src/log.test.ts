import { closeSync, openSync, writeSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { openLog } from './log.ts';

test('[D25] a log on a full disk holds nobody up', () => {
  const full = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(full));
  const log = openLog('info', (line) => writeSync(full, line));
  for (let n = 0; n < 100; n++) log.error({ err: new Error('the disk is full') }, 'unexpected error');
});

/** A place that takes so many bytes and no more, until it is given more room. */
function smallPlace(room: number) {
  const place = { room, text: '' };
  const put = (line: Buffer) => {
    if (place.room === 0) throw new Error('ENOSPC');
    const taken = line.subarray(0, place.room);
    place.room -= taken.length;
    place.text += taken.toString();
    return taken.length;
  };
  return { place, log: openLog('info', put) };
}

test('[D25] once there is room again, the log goes on with a whole line and says how many are missing', () => {
  const { place, log } = smallPlace(20);
  log.info('cut off');
  log.info('lost');
  place.room = 3; // not enough for anything
  log.info('cut off again');
  place.room = 10_000;
  log.info('here again');
  log.info('and on');
  const lines = place.text.split('\n').filter((line) => line.endsWith('}'));
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { msg: 'here again' },
    { level: 40, lines: 3, msg: 'the log could not be written; lines are missing' },
    { msg: 'and on' },
  ]);
});
