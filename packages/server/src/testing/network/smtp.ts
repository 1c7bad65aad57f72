import { createServer } from 'node:net';
import { type Receiver, serve } from './receivers.ts';

export type Mail = { from: string; to: string[]; data: string };

/** As much of a mail server as it takes to receive a letter. `reply` is what it says to the letter itself. */
export async function mailServer(
  heard: (mail: Mail) => void,
  reply: () => string = () => '250 kept',
): Promise<Receiver> {
  const receive = (mail: Mail) => {
    const words = reply();
    if (words.startsWith('2')) heard(mail);
    return words;
  };
  return serve(
    createServer((socket) => {
      const talk = new Conversation(receive);
      const say = (line: string) => socket.write(`${line}\r\n`);
      let rest = '';
      say('220 test');
      socket.on('data', (chunk) => {
        const lines = (rest + chunk.toString('latin1')).split('\r\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          const answer = talk.hear(line);
          if (answer !== null) say(answer);
        }
      });
    }),
  );
}

class Conversation {
  readonly #receive: (mail: Mail) => string;
  #mail: Mail = { from: '', to: [], data: '' };
  #isInData = false;

  constructor(receive: (mail: Mail) => string) {
    this.#receive = receive;
  }

  /** The reply to a line; null while the letter continues. */
  hear(line: string): string | null {
    if (this.#isInData) return this.#hearData(line);
    const address = /<([^>]*)>/.exec(line)?.[1] ?? '';
    if (/^MAIL FROM/i.test(line)) this.#mail.from = address;
    if (/^RCPT TO/i.test(line)) this.#mail.to.push(address);
    this.#isInData = /^DATA/i.test(line);
    if (this.#isInData) return '354 go on';
    return /^QUIT/i.test(line) ? '221 bye' : '250 fine';
  }

  #hearData(line: string): string | null {
    if (line !== '.') {
      this.#mail.data += `${line}\n`;
      return null;
    }
    const mail = this.#mail;
    this.#mail = { from: '', to: [], data: '' };
    this.#isInData = false;
    return this.#receive(mail);
  }
}
