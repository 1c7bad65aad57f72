import { createInterface } from 'node:readline';

/** 128 and the number of SIGINT. */
const INTERRUPTED = 130;

/** One line, typed unseen. If standard input is not a terminal, all of it. */
export async function readSecret(question: string): Promise<string> {
  if (!process.stdin.isTTY) return readAll();
  // Before the question is there: whoever answers at once would see on the screen what they type.
  const lines = createInterface({ input: process.stdin, terminal: true });
  process.stderr.write(question);
  try {
    return await new Promise((resolve) => {
      lines.once('SIGINT', interrupted);
      lines.once('line', resolve);
      lines.once('close', () => resolve(''));
    });
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}

/** Null when there is nobody to ask. */
export async function askYesNo(question: string): Promise<boolean | null> {
  if (!process.stdin.isTTY) return null;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await new Promise((resolve) => {
      lines.once('SIGINT', interrupted);
      lines.question(`${question} [y/N] `, (answer) => resolve(/^y(es)?$/i.test(answer.trim())));
      lines.once('close', () => resolve(false));
    });
  } finally {
    lines.close();
  }
}

/** While it reads, the terminal sends Ctrl-C as a character. It ends us as the signal does, and shells are told so. */
function interrupted(): never {
  process.stderr.write('\n');
  process.exit(INTERRUPTED);
}

async function readAll(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
