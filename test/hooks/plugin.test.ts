import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { entryOf } from '../../packages/agent/src/install/targets.ts';
import { inRepo } from '../support/folder.ts';

const PLUGIN = inRepo('plugins/claude-code');
const SKILL = inRepo('skills/lanternroom');

const json = (path: string) => JSON.parse(readFileSync(join(PLUGIN, path), 'utf8'));

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(folder, path)).isFile())
    .sort();
}

/** `---` lines around `name: value` pairs, as a skill begins. */
function frontMatter(text: string): Record<string, string> {
  const block = /^---\n([\s\S]*?)\n---\n/.exec(text)?.[1] ?? '';
  return Object.fromEntries(
    block.split('\n').map((line) => [line.split(':')[0], line.slice(line.indexOf(':') + 1).trim()]),
  );
}

describe('the plugin for Claude Code', () => {
  it('has a manifest as the documentation wants it', () => {
    const manifest = json('.claude-plugin/plugin.json');
    const known = [
      'name',
      'version',
      'description',
      'author',
      'homepage',
      'repository',
      'license',
      'keywords',
    ];
    expect(Object.keys(manifest).filter((field) => !known.includes(field))).toEqual([]);
    expect(manifest.name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(manifest.version).toBe(
      JSON.parse(readFileSync(inRepo('packages/agent/package.json'), 'utf8')).version,
    );
    expect(manifest.author).toEqual({ name: expect.any(String) });
    expect(manifest.keywords.every((word: unknown) => typeof word === 'string')).toBe(true);
    // Components are found by their places, which must be beside the manifest's folder and not in it.
    expect(readdirSync(join(PLUGIN, '.claude-plugin')).sort()).toEqual(['icon.png', 'plugin.json']);
    const marketplace = JSON.parse(readFileSync(inRepo('plugins/.claude-plugin/marketplace.json'), 'utf8'));
    expect(marketplace.plugins).toMatchObject([{ name: manifest.name, source: './claude-code' }]);
  });

  it('has the hook that "lantern install" would write', () => {
    const { hooks, description, ...others } = json('hooks/hooks.json');
    const wish = {
      host: 'claude',
      program: 'lantern',
      timeoutSeconds: 3_600,
      ask: undefined,
      pass: undefined,
    } as const;
    expect({ hooks, others }).toEqual({ hooks: { PreToolUse: [entryOf(wish)] }, others: {} });
    expect(description).toEqual(expect.any(String));
  });

  it('starts the MCP server', () => {
    expect(json('.mcp.json')).toEqual({ mcpServers: { lanternroom: { command: 'lantern', args: ['mcp'] } } });
  });

  it('carries the skill, byte for byte', () => {
    const copy = join(PLUGIN, 'skills/lanternroom');
    expect(filesIn(copy)).toEqual(filesIn(SKILL));
    for (const path of filesIn(SKILL)) {
      expect([path, readFileSync(join(copy, path), 'utf8')]).toEqual([
        path,
        readFileSync(join(SKILL, path), 'utf8'),
      ]);
    }
  });
});

describe('the skill', () => {
  it('has the name of its folder, a description that fits, and no broken link', () => {
    const text = readFileSync(join(SKILL, 'SKILL.md'), 'utf8');
    const { name, description, ...others } = frontMatter(text);
    expect({ name, others }).toEqual({ name: 'lanternroom', others: {} });
    expect(description?.length).toBeGreaterThan(100);
    expect(description?.length).toBeLessThanOrEqual(1_024);
    expect(text.split('\n').length).toBeLessThan(500);
    const linked = [...text.matchAll(/\]\((references\/[^)]+)\)/g)].map(([, path]) => path);
    const there = filesIn(SKILL).filter((path) => path !== 'SKILL.md');
    expect([...new Set(linked)].sort()).toEqual(there.map((path) => relative('.', path)));
  });
});
