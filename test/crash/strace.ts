import { execFileSync } from 'node:child_process';

/** One system call and its position in the order of all. */
export type Call = {
  name: string;
  /** What the first argument points at: a file or a socket. */
  target: string;
  /** The arguments as strace writes them. */
  text: string;
  result: number;
};

const TRACED = 'write,writev,pwrite64,pwritev,sendto,sendmsg,fsync,fdatasync';
/** A page of the database with its escapes; longer ones are cut. */
const LONGEST_STRING = 20_000;

/** The program that watches, from beside (-D): the process that we start is the server itself. */
export function straceTo(file: string): string[] {
  try {
    execFileSync('strace', ['-V'], { stdio: 'ignore' });
  } catch {
    throw new Error(
      'This test watches system calls with strace, which is not here. Install it (apt-get install strace) and run the tests again.',
    );
  }
  return [
    'strace',
    '-D',
    '-f',
    '-y',
    '-s',
    String(LONGEST_STRING),
    '-e',
    `trace=${TRACED}`,
    '-o',
    file,
    '--',
  ];
}

/**
 * The finished calls, in order. A call that another thread interrupted takes two lines: a write counts from its
 * beginning and a sync from its end, so that this order never looks better than what happened.
 */
export function readCalls(trace: string): Call[] {
  const unfinished = new Map<string, string>();
  const calls: Call[] = [];
  for (const line of trace.split('\n')) {
    const m = /^(\d+) +(.*)$/.exec(line);
    const [, thread = '', rest = ''] = m ?? [];
    if (rest.endsWith('<unfinished ...>')) {
      unfinished.set(thread, rest.slice(0, -'<unfinished ...>'.length));
      if (!isSync(rest)) add(calls, `${rest.slice(0, -'<unfinished ...>'.length)}) = 0`);
      continue;
    }
    const resumed = /^<\.\.\. (\w+) resumed>(.*)$/.exec(rest);
    if (resumed === null) add(calls, rest);
    else if (isSync(resumed[1] ?? '')) add(calls, `${unfinished.get(thread) ?? ''}${resumed[2] ?? ''}`);
  }
  return calls;
}

const isSync = (text: string): boolean => /^(fsync|fdatasync)\b/.test(text);

function add(calls: Call[], text: string): void {
  const m = /^(\w+)\(\d+<([^>]*)>(.*)\) += (-?\d+)/.exec(text);
  if (m === null) return;
  const [, name = '', target = '', args = '', result = ''] = m;
  calls.push({ name, target, text: args, result: Number(result) });
}
