import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { received, startWorld } from '../testing/room.ts';

const HOSTS = [
  ['claude', '.claude/settings.json', 'PreToolUse', 3_600],
  ['codex', '.codex/hooks.json', 'PreToolUse', 3_600],
  ['gemini', '.gemini/settings.json', 'BeforeTool', 3_600_000],
] as const;

const COMMENTED = `// my own settings
{
  "model": "opus", // the good one
  "hooks": {
    /* before tools */
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "./mine.sh" }] }
    ],
    "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }]
  },
  "permissions": { "allow": ["Read"] },
}
`;

async function machine() {
  const world = await startWorld(() => received);
  const at = (path: string) => join(world.folder, path);
  const put = (path: string, text: string) => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  };
  const get = (path: string) => readFileSync(at(path), 'utf8');
  return { ...world, at, put, get };
}

const handlersIn = (text: string, event: string) =>
  JSON.parse(text).hooks[event].flatMap((group: { hooks: unknown[] }) => group.hooks);

describe('lantern install', () => {
  it.each(HOSTS)('%s: writes %s where there was none, and says so', async (host, path, event, timeout) => {
    const { run, get, at } = await machine();
    const { code, out } = await run(['install', host, '--yes']);
    expect(code).toBe(0);
    expect(out).toContain(`Adds to ${at(path)}:`);
    const [handler, ...others] = handlersIn(get(path), event);
    expect(others).toEqual([]);
    expect(handler).toMatchObject({ type: 'command', timeout });
    expect(handler.command).toMatch(
      new RegExp(`lantern(\\.js)?"? hook ${host} --host-timeout 3600 \\|\\| exit 2$`),
    );
    expect(handler.onFailure).toBe(host === 'claude' ? 'block' : undefined);
    // The same again changes nothing, and out it goes.
    const before = get(path);
    expect((await run(['install', host, '--yes'])).out).toContain('has it already');
    expect(get(path)).toBe(before);
    expect((await run(['install', host, '--remove', '--yes'])).code).toBe(0);
    expect(JSON.parse(get(path))).toEqual({});
    expect((await run(['install', host, '--remove', '--yes'])).out).toContain('Nothing of ours');
  });

  it('names the program by its path when it was started by npx, whose PATH ends with it', async () => {
    const { run, get, at } = await machine();
    const own = fileURLToPath(new URL('../../bin/lantern.js', import.meta.url));
    const commandWith = async (folder: string) => {
      mkdirSync(at(folder), { recursive: true });
      symlinkSync(own, join(at(folder), 'lantern'));
      await run(['install', 'claude', '--yes'], { env: { PATH: `/usr/bin${delimiter}${at(folder)}` } });
      return handlersIn(get('.claude/settings.json'), 'PreToolUse')[0].command;
    };
    expect(await commandWith('bin')).toMatch(/^lantern hook claude /);
    expect(await commandWith('project/node_modules/.bin')).toContain(`"${own}" hook claude `);
  });

  it('keeps everything that was there, comments too, and takes exactly its own out again', async () => {
    const { run, put, get } = await machine();
    put('.claude/settings.json', COMMENTED);
    await run(['install', 'claude', '--yes', '--ask', 'Bash,Web*']);
    const text = get('.claude/settings.json');
    for (const kept of [
      '// my own settings',
      '// the good one',
      '/* before tools */',
      './mine.sh',
      'say done',
    ]) {
      expect(text).toContain(kept);
    }
    expect(text).toContain(`--ask 'Bash,Web*' || exit 2`);
    await run(['install', 'claude', '--yes', '--remove']);
    expect(get('.claude/settings.json').replaceAll(/\s/g, '')).toBe(COMMENTED.replaceAll(/\s/g, ''));
  });

  it('another timeout replaces the entry instead of adding a second one, also where it is there twice', async () => {
    const { run, get, put } = await machine();
    await run(['install', 'gemini', '--yes']);
    await run(['install', 'gemini', '--yes', '--timeout', '900', '--pass', 'my_tool']);
    const [handler, ...others] = handlersIn(get('.gemini/settings.json'), 'BeforeTool');
    expect(others).toEqual([]);
    expect(handler).toMatchObject({ timeout: 900_000, command: expect.stringContaining('--pass my_tool') });
    const twice = { hooks: [{ type: 'command', command: 'lantern hook codex' }] };
    put('.codex/hooks.json', JSON.stringify({ hooks: { PreToolUse: [twice, { hooks: [] }, twice] } }));
    await run(['install', 'codex', '--yes']);
    expect(handlersIn(get('.codex/hooks.json'), 'PreToolUse')).toHaveLength(1);
  });

  it('a hook of somebody else that sounds like ours stays', async () => {
    const { run, put, get } = await machine();
    const others = [
      'lantern-hook claude',
      'lantern hooks',
      'my lanterns hook claude',
      'lantern hook claudette',
    ];
    const hooks = others.map((command) => ({ type: 'command', command }));
    const text = JSON.stringify({ hooks: { PreToolUse: [{ hooks }] } }, null, 2);
    put('.claude/settings.json', text);
    await run(['install', 'claude', '--yes']);
    await run(['install', 'claude', '--yes', '--remove']);
    expect(get('.claude/settings.json')).toBe(text);
  });

  it('keeps the line ends and the mark of a file from Windows', async () => {
    const { run, put, get } = await machine();
    const text = '\ufeff{\r\n  // mine\r\n  "model": "opus"\r\n}\r\n';
    put('.claude/settings.json', text);
    expect((await run(['install', 'claude', '--yes'])).code).toBe(0);
    expect(get('.claude/settings.json')).toMatch(/^\ufeff\{\r\n {2}\/\/ mine\r\n[\s\S]*hook claude/);
    expect(get('.claude/settings.json')).not.toMatch(/[^\r]\n/);
    expect((await run(['install', 'claude', '--remove', '--yes'])).code).toBe(0);
    expect(get('.claude/settings.json')).toBe(text);
  });

  it.each([
    ['no JSON', '{ "hooks": { '],
    ['a list', '[]'],
    ['hooks that are a list', '{"hooks":[]}'],
    ['hooks that are null', '{"hooks":null}'],
    ['an event that is null', '{"hooks":{"PreToolUse":null}}'],
    ['an event that is an object', '{"hooks":{"PreToolUse":{}}}'],
    ['entries that are no objects', '{"hooks":{"PreToolUse":["./mine.sh"]}}'],
    ['hooks of an entry that are none', '{"hooks":{"PreToolUse":[{"hooks":"./mine.sh"}]}}'],
  ])('%s is refused, said and left alone', async (_, text) => {
    const { run, put, get, at } = await machine();
    put('.claude/settings.json', text);
    for (const more of [[], ['--remove']]) {
      const { code, err } = await run(['install', 'claude', '--yes', ...more]);
      expect(code).toBe(2);
      expect(err).toContain(`${at('.claude/settings.json')} cannot be edited safely`);
      expect(err).toContain('Nothing was changed.');
      expect(get('.claude/settings.json')).toBe(text);
    }
  });

  it('a name that is there twice is refused: the host would not read what was written', async () => {
    const { run, put, get } = await machine();
    const text = '{"hooks":{},"hooks":{"PreToolUse":[]}}';
    put('.claude/settings.json', text);
    const { code, err } = await run(['install', 'claude', '--yes']);
    expect([code, err]).toEqual([2, expect.stringContaining('edit it by hand. Nothing was changed.')]);
    expect(get('.claude/settings.json')).toBe(text);
  });

  it('asks first: without a person and without --yes nothing is written', async () => {
    const { run, at } = await machine();
    const { code, out, err } = await run(['install', 'claude']);
    expect(code).toBe(2);
    expect(out).toContain('"PreToolUse"');
    expect(err).toMatch(/--yes/);
    expect((await run(['install', 'claude', '--dry-run'])).code).toBe(0);
    expect((await run(['install', 'claude'], { confirm: false })).out).toContain('Nothing was changed.');
    expect(existsSync(at('.claude'))).toBe(false);
    expect((await run(['install', 'claude'], { confirm: true })).code).toBe(0);
    expect(existsSync(at('.claude/settings.json'))).toBe(true);
  });

  it('goes where a link points to, and keeps the mode of the file', async () => {
    const { run, put, get, at } = await machine();
    put('dotfiles/claude.json', '{}\n');
    chmodSync(at('dotfiles/claude.json'), 0o640);
    mkdirSync(at('.claude'));
    symlinkSync(at('dotfiles/claude.json'), at('.claude/settings.json'));
    await run(['install', 'claude', '--yes']);
    expect(get('dotfiles/claude.json')).toContain('lantern');
    expect(statSync(at('dotfiles/claude.json')).mode & 0o777).toBe(0o640);
  });

  it('a link to nothing stays a link, and a file that cannot be written is reported', async () => {
    const { run, put, get, at } = await machine();
    mkdirSync(at('.claude'));
    symlinkSync(at('dotfiles/claude.json'), at('.claude/settings.json'));
    const nowhere = await run(['install', 'claude', '--yes']);
    expect([nowhere.code, nowhere.err]).toEqual([2, expect.stringContaining('a link to a file that is not')]);
    expect(lstatSync(at('.claude/settings.json')).isSymbolicLink()).toBe(true);
    // As long as a name may be: no file name is left for a temporary file beside it, even for root.
    const longest = `dotfiles/${'x'.repeat(255)}`;
    put(longest, '{}\n');
    mkdirSync(at('.gemini'));
    symlinkSync(at(longest), at('.gemini/settings.json'));
    const full = await run(['install', 'gemini', '--yes']);
    expect([full.code, full.err]).toEqual([
      1,
      expect.stringMatching(/cannot be written \(ENAMETOOLONG\).*Nothing was/),
    ]);
    expect(get(longest)).toBe('{}\n');
  });

  it('follows the hosts where their own folders were moved to', async () => {
    const { run, at } = await machine();
    await run(['install', 'claude', '--yes'], { env: { CLAUDE_CONFIG_DIR: at('elsewhere') } });
    await run(['install', 'codex', '--yes'], { env: { CODEX_HOME: at('codex-home') } });
    expect([existsSync(at('elsewhere/settings.json')), existsSync(at('codex-home/hooks.json'))]).toEqual([
      true,
      true,
    ]);
  });

  it.each([
    [['install']],
    [['install', 'cursor']],
    [['install', 'claude', '--timeout', '5', '--yes']],
    [['install', 'claude', '--ask', 'Bash', '--pass', 'Read', '--yes']],
  ])('%j is wrong usage and writes nothing', async (argv) => {
    const { run, at } = await machine();
    expect((await run(argv)).code).toBe(2);
    expect(existsSync(at('.claude'))).toBe(false);
  });
});
