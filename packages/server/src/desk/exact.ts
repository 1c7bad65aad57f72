import { randomUUID } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { memberText } from '../core/json-text.ts';

/** JSON that is passed on as it was written: parsing would round what a number cannot hold (D59). */
export class ExactJson {
  readonly text: string;

  constructor(text: string | null) {
    this.text = text ?? 'null';
  }

  static member(object: string, name: string): ExactJson {
    return new ExactJson(memberText(object, name));
  }
}

/** As `JSON.stringify`, with exact pieces put in as they are. The mark is random, so nobody can write it. */
export function exactText(value: unknown): string {
  const mark = randomUUID();
  const pieces: string[] = [];
  const text = JSON.stringify(value, (_, member: unknown) =>
    member instanceof ExactJson ? `${mark}:${pieces.push(member.text) - 1}` : member,
  );
  return pieces.length === 0
    ? text
    : text.replace(
        new RegExp(`"${mark}:(\\d+)"`, 'g'),
        (_, index: string) => pieces[Number(index)] ?? 'null',
      );
}

export function sendExact(reply: FastifyReply, value: unknown): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(exactText(value));
}
