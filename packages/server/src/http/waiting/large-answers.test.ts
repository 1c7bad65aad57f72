import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { LARGE_BYTES, LargeAnswers } from './large-answers.ts';

function anAnswer(headers: Readonly<Record<string, string>> = {}): ServerResponse {
  return new ServerResponse(Object.assign(new IncomingMessage(new Socket()), { headers }));
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('[W29] what goes into another answer keeps its place until that one was taken', async () => {
  const answers = new LargeAnswers();
  const outer = Array.from({ length: 5 }, () => anAnswer());
  const inner = outer.map((one) => anAnswer(answers.within(one)));
  const begun: number[] = [];
  inner.forEach((one, n) => {
    void answers.turn('somebody', LARGE_BYTES, one).then(() => begun.push(n));
  });
  await turn();
  for (const one of inner) one.emit('finish');
  await turn();
  expect(begun).toEqual([0, 1, 2, 3]);
  outer[2]?.emit('finish');
  await turn();
  expect(begun).toEqual([0, 1, 2, 3, 4]);
});

it('[W29] a name that nobody gave out leads nowhere, nor does one whose answer has gone', async () => {
  const answers = new LargeAnswers();
  const gone = anAnswer();
  const stale = answers.within(gone);
  gone.emit('close');
  const made = Object.fromEntries(Object.keys(stale).map((name) => [name, 'guessed']));
  for (const headers of [stale, made, stale, made, stale, made]) {
    const one = anAnswer(headers);
    expect(await answers.turn('somebody', LARGE_BYTES, one)).toBe(false);
    one.emit('finish');
  }
});
