import { describe, expect, test } from 'vitest';
import { citedIn, findings, rulesIn } from './rules/citations.ts';
import { faultsIn, settingsIn } from './rules/lists.ts';
import { driftFromLock, hostsInLock } from './rules/lock.ts';
import { filesUnder, read, sizeOf, trackedFiles } from './rules/repository.ts';
import { titlesInPython, titlesInTypeScript } from './rules/titles.ts';
import { tracesIn } from './rules/traces.ts';

const SELF = 'test/rules.test.ts';

/** Every file with tests in it: also shared suites such as storage/contract.ts, which vitest finds through others. */
function titlesOfRepository() {
  const typescript = ['packages', 'test']
    .flatMap(filesUnder)
    .filter((path) => /\.tsx?$/.test(path) && path !== SELF && read(path).includes("from 'vitest'"));
  const python = filesUnder('python/tests').filter((path) => path.endsWith('.py'));
  return [
    ...typescript.flatMap((path) => titlesInTypeScript(path, read(path))),
    ...python.flatMap((path) => titlesInPython(path, read(path))),
  ];
}

const sorted = (names: readonly string[]) => [...names].sort();

describe('the repository', () => {
  test('has a test for every rule of spec/, and no test that cites a rule which is not there', () => {
    const rules = filesUnder('spec')
      .filter((path) => /^spec\/[^/]+\.md$/.test(path))
      .flatMap((path) => rulesIn(read(path)));
    expect(rules).not.toEqual([]);
    expect(findings(rules, titlesOfRepository())).toEqual([]);
  });

  test('explains in docs/errors.md exactly the faults of the core', async () => {
    const { FAULTS } = await import('../packages/server/src/core/faults.ts');
    expect(sorted(faultsIn(read('docs/errors.md')))).toEqual(sorted(FAULTS));
  });

  test('explains in docs/configuration.md exactly the settings of the server', async () => {
    const { SETTINGS } = await import('../packages/server/src/config.ts');
    expect(sorted(settingsIn(read('docs/configuration.md')))).toEqual(sorted(SETTINGS.map(({ env }) => env)));
  });

  test('has a lock file that names no host', () => {
    expect(hostsInLock(JSON.parse(read('package-lock.json')))).toEqual([]);
  });

  test('has a lock file that fits every package.json', () => {
    const manifests = ['package.json', ...['packages', 'test', 'bench'].flatMap(filesUnder)].filter((path) =>
      /^(packages\/[^/]+\/|test\/|bench\/|)package\.json$/.test(path),
    );
    const byFolder = manifests.map((path) => [path.replace(/\/?package\.json$/, ''), JSON.parse(read(path))]);
    expect(driftFromLock(JSON.parse(read('package-lock.json')), Object.fromEntries(byFolder))).toEqual([]);
  });

  test('has the licence in every package that leaves it', () => {
    const folders = [...filesUnder('packages'), 'python/pyproject.toml']
      .filter((path) => /^(packages\/[^/]+\/package\.json|python\/pyproject\.toml)$/.test(path))
      .filter((path) => !read(path).includes('"private": true'))
      .map((path) => path.replace(/\/[^/]+$/, ''));
    expect(folders).toEqual(expect.arrayContaining(['packages/sdk', 'packages/server', 'python']));
    const without = folders.filter((folder) => !filesUnder(folder).includes(`${folder}/LICENSE`));
    expect(without).toEqual([]);
    for (const folder of folders) expect(read(`${folder}/LICENSE`)).toBe(read('LICENSE'));
  });

  test('tells nothing about the machine it was written on', () => {
    const found = trackedFiles().flatMap((path) => tracesIn(read(path)).map((trace) => `${path}: ${trace}`));
    expect(found).toEqual([]);
  });

  // Scratch files and profiles of a measurement have come in with a commit twice.
  test('holds nothing that no one wrote: what is not text is a picture, a font or an icon, and nothing is large', () => {
    const strange = trackedFiles().filter(
      (path) => !/\.(png|ico|woff2)$/.test(path) && read(path).includes('\0'),
    );
    expect(strange).toEqual([]);
    expect(trackedFiles().filter((path) => sizeOf(path) > 512 * 1024)).toEqual([]);
  });
});

describe('reading rules and citations', () => {
  const spec =
    '# WAKE\n\n- W1 A key says who you are.\n- **W2** A body says what.\n\nW3 is no list item. Nor is\n  - W4 this.\n';

  test('finds rules at the start of list items only', () => {
    expect(rulesIn(spec)).toEqual(['W1', 'W2']);
  });

  test('finds one or several citations, and no other brackets', () => {
    expect(citedIn('[W1][W2] and [A3, K4], not [R] or [w5] or [W]')).toEqual(['W1', 'W2', 'A3', 'K4']);
  });

  const inProtocols = 'packages/server/src/protocols/wake/wake.test.ts';

  test.each([
    ['a rule without a test', ['W1', 'W2'], [{ file: 'a.test.ts', text: '[W1] x' }], /^rule W2 has no test/],
    [
      'a rule that is there twice',
      ['W1', 'W1'],
      [{ file: 'a.test.ts', text: '[W1] x' }],
      /^rule W1 stands .* twice/,
    ],
    [
      'a citation of no rule',
      ['W1'],
      [{ file: 'a.test.ts', text: '[W1, W9] x' }],
      /^a\.test\.ts: .* cites W9/,
    ],
    [
      'a protocol test that cites nothing',
      ['W1'],
      [
        { file: inProtocols, text: '[W1] x' },
        { file: inProtocols, text: 'y' },
      ],
      /"y" cites no rule/,
    ],
    [
      'a protocol test with a computed title',
      ['W1'],
      [
        { file: inProtocols, text: '[W1] x' },
        { file: inProtocols, text: undefined },
      ],
      /a computed title/,
    ],
  ])('objects to %s', (_name, rules, titles, sentence) => {
    expect(findings(rules, titles)).toEqual([expect.stringMatching(sentence)]);
  });

  test('objects to nothing when every rule is cited', () => {
    const titles = [
      { file: inProtocols, text: '[W1] x' },
      { file: 'packages/server/src/core/decide.test.ts', text: 'needs no citation' },
    ];
    expect(findings(['W1'], titles)).toEqual([]);
  });
});

describe('reading titles', () => {
  test('finds plain, chained, tabled and templated tests, and no commented-out ones', () => {
    const source = `
      import { describe, it, test } from 'vitest';
      describe('[W0] a group is not a test', () => {
        it('[W1] plain', () => { expect(/['"]/.test('it(') as boolean); });
        test.skip("[W2] chained", async () => {});
        it.each<[string]>([['a)('], ['b']])('[W3] tabled %s', (x: string) => {});
        for (const x of ['a']) it(\`[W4] for \${x} only\`, () => {});
        it.each\`a\${1}\`('[W5] tagged', () => {});
        it(name, () => {});
        // it('[W6] commented out', () => {});
      });`;
    expect(titlesInTypeScript('a.test.ts', source).map(({ text }) => text)).toEqual([
      '[W1] plain',
      '[W2] chained',
      '[W3] tabled %s',
      '[W4] for … only',
      '[W5] tagged',
      undefined,
    ]);
  });

  test('takes a Python test by its docstring or its name', () => {
    const source = [
      'class Deliver(unittest.TestCase):',
      '    def test_one(self):',
      '        """[W1] a delivery is accepted"""',
      '        pass',
      '    async def test_two(self) -> None:',
      '        pass',
      '    def helper(self):',
      '        """[W9] is no test"""',
    ];
    expect(titlesInPython('t.py', source.join('\n')).map(({ text }) => text)).toEqual([
      '[W1] a delivery is accepted',
      'test_two',
    ]);
  });
});

describe('reading documents', () => {
  test('takes faults from headings and settings from the first column', () => {
    expect(faultsIn('# Errors\n### not_found\ntext\n### `changed`\n#### deeper\n')).toEqual([
      'not_found',
      'changed',
    ]);
    expect(settingsIn('| environment | |\n|---|---|\n| `A_B`, `C` or D | see `E_F` |\n\n`G_H`\n')).toEqual([
      'A_B',
    ]);
  });

  test.each([
    `cd /${'root'}/x`,
    `"file:///${'work'}/main"`,
    `(/${'home'}/ada/x)`,
    `http${'s'}://${'registry'}.example/`,
    `${'registry'}=x`,
  ])('objects to %s', (text) => {
    expect(tracesIn(text)).toHaveLength(1);
  });

  test('does not object to addresses and folders that only look alike', () => {
    expect(
      tracesIn(
        'https://example.com/root/x ./work/a ../home/ada/x $HOME/work/x /home/me/x the registry is away',
      ),
    ).toEqual([]);
  });

  test('objects to a lock entry with a host, not to a workspace link', () => {
    const packages = { a: { resolved: 'https://host/a.tgz' }, b: { resolved: 'packages/sdk' }, c: {} };
    expect(hostsInLock({ packages })).toEqual(['a']);
  });

  test('objects to a package.json that the lock file does not know', () => {
    const lock = { packages: { '': { dependencies: { b: '1', a: '1' } }, test: {}, bench: {} } };
    const manifests = {
      '': { dependencies: { a: '1', b: '1' } },
      test: { devDependencies: { c: '1' } },
      bench: {},
    };
    expect(driftFromLock(lock, manifests)).toEqual(['test']);
    expect(driftFromLock(lock, { web: { dependencies: { d: '1' } } })).toEqual(['web']);
  });
});
