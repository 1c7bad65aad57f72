import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { inRepo } from './support/folder.ts';

const CHECKS: Record<string, (code: string) => { status: number | null; stderr: string }> = {
  js: (code) =>
    spawnSync(process.execPath, ['--input-type=module', '--check'], { input: code, encoding: 'utf8' }),
  python: (code) =>
    spawnSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], {
      input: code,
      encoding: 'utf8',
    }),
  sh: (code) => spawnSync('sh', ['-n'], { input: code, encoding: 'utf8' }),
  json: (code) => {
    JSON.parse(code);
    return { status: 0, stderr: '' };
  },
};

const blocks = readdirSync(inRepo('prompts')).flatMap((file) =>
  [...readFileSync(inRepo(`prompts/${file}`), 'utf8').matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(
    ([, language = '', code = '']) => ({ file, language, code }),
  ),
);

describe('the code in prompts', () => {
  it('[D42] every framework shows some', () => {
    expect(new Set(blocks.map(({ file }) => file))).toEqual(new Set(readdirSync(inRepo('prompts'))));
  });

  it.each(blocks.filter(({ language }) => language !== 'http'))(
    '[D42] $file: $language parses',
    ({ language, code }) => {
      const check = CHECKS[language];
      if (check === undefined) throw new Error(`nothing here reads ${language}`);
      expect(check(code)).toMatchObject({ status: 0 });
    },
  );
});
