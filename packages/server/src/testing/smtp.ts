import { createServer } from 'node:net';
import { type Receiver, serve } from './receivers.ts';

export type Mail = { from: string; to: string[]; data: string };

/** As much of a mail server as it takes to receive a letter. `reply` is what it says to the letter itself. */
export async function mailServer(
  heard: (mail: Mail) => void,
  reply: () => string = () => '250 kept',
): Promise<Receiver> {
  return serve(
    createServer((socket) => {
      let mail: Mail = { from: '', to: [], data: '' };
      let inData = false;
      let rest = '';
      const say = (line: string) => socket.write(`${line}\r\n`);
      const hear = (line: string) => {
        if (inData) {
          if (line !== '.') {
            mail.data += `${line}\n`;
            return;
          }
          inData = false;
          const words = reply();
          if (words.startsWith('2')) heard(mail);
          mail = { from: '', to: [], data: '' };
          return void say(words);
        }
        const address = /<([^>]*)>/.exec(line)?.[1] ?? '';
        if (/^MAIL FROM/i.test(line)) mail.from = address;
        if (/^RCPT TO/i.test(line)) mail.to.push(address);
        inData = /^DATA/i.test(line);
        say(inData ? '354 go on' : /^QUIT/i.test(line) ? '221 bye' : '250 fine');
      };
      say('220 test');
      socket.on('data', (chunk) => {
        const lines = (rest + chunk.toString('latin1')).split('\r\n');
        rest = lines.pop() ?? '';
        for (const line of lines) hear(line);
      });
    }),
  );
}
