import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { connect } from './a2a/connect.ts';
import { memoryJournal } from './a2a/journal.ts';
import { faultOf } from './faults.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/** Everything that a file imports, directly or not; packages are listed by name. */
function graphOf(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  const source = readFileSync(path, 'utf8');
  for (const [, typeOnly, name = ''] of source.matchAll(
    /^(?:import|export)( type)? [^;]*?from '([^']+)'/gms,
  )) {
    if (typeOnly !== undefined) continue;
    if (name.startsWith('.')) graphOf(join(dirname(path), name), seen);
    else seen.add(name);
  }
  return seen;
}

describe('browsers and workers', () => {
  it('[A16] connect ends at once, with what to do, where the package ws cannot be loaded', async () => {
    // What a bundle for browsers gets instead of it.
    vi.doMock('ws', () => ({ default: () => undefined, WebSocket: undefined }));
    onTestFinished(() => void vi.doUnmock('ws'));
    const connection = connect({
      url: 'http://127.0.0.1:9',
      apiKey: 'wk_test_x',
      journal: memoryJournal(),
      onTask: () => 'Done.',
    });
    const error = await connection.closed.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(faultOf(error)).toBe('wrong_usage');
    expect(String(error)).toContain('leave ws out of your bundle');
  });

  it.each(['wake', 'akep'])('[W23] /%s imports nothing but itself', (entry) => {
    const outside = [...graphOf(join(HERE, entry, 'index.ts'))].filter((name) => !name.startsWith(HERE));
    expect(outside).toEqual([]);
  });

  it.each(['wake', 'akep'])(
    '[W23] /%s bundles for a browser, and works where there is no process',
    async (entry) => {
      const result = await build({
        root: HERE,
        logLevel: 'silent',
        configFile: false,
        build: {
          write: false,
          minify: false,
          lib: { entry: join(HERE, entry, 'index.ts'), formats: ['es'] },
        },
      });
      const [{ output } = { output: [] }] = [result].flat().filter((one) => 'output' in one);
      const code = output.map((one) => ('code' in one ? one.code : '')).join('');
      expect(code).not.toMatch(/from ["']node:|require\(/);
      const url = `data:text/javascript,${encodeURIComponent(`const process = undefined;\n${code}`)}`;
      const bundled = await import(/* @vite-ignore */ url);
      const { createWake, createInbox } = bundled;
      const client = (createWake ?? createInbox)({ url: 'https://desk.example', apiKey: 'wk_live_x' });
      expect(client).toBeDefined();
      expect(() => bundled.fileLog?.() ?? bundled.fileCursor('x')).toThrow('no files here');
    },
  );
});
