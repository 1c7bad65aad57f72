import type { Command } from 'commander';
import { settingsInForce } from '../config.ts';
import type { Verdict } from '../core/ledger/audit.ts';
import {
  type Common,
  common,
  configFor,
  findSpace,
  inSpace,
  print,
  sourcesFor,
  withGround,
} from './ground.ts';

/** Looking after it: the record, copies, and what is wrong. Each loads its own code, so that help comes at once. */
export function addKeepingCommands(program: Command): void {
  const audit = program
    .command('audit')
    .description('The ledger: the append-only record of everything that changed');
  inSpace(
    audit.command('verify').description('follow the hash chain from the first line to the last'),
    'audit verify --json',
  ).action(verify);

  common(
    program.command('backup <file>').description('copy everything into one file, also while the server runs'),
    'backup lanternroom.backup',
  )
    .option('--force', 'replace the file if it exists')
    .action((file: string, options: Common & { force?: boolean }) =>
      withGround(options, async ({ data }) => {
        const { backup } = await import('../storage/folder/backup.ts');
        const made = backup(data, file, options.force === true);
        print(
          options,
          made,
          `Copied ${made.bytes} bytes to ${made.file}. Keep ${made.secret} with it: without the master key it cannot be read.`,
        );
      }),
    );
  common(
    program.command('restore <file>').description('put a backup into an empty data folder'),
    'restore lanternroom.backup --data ./restored',
  ).action(async (file: string, options: Common) => {
    const { restore } = await import('../storage/folder/backup.ts');
    const made = restore(file, configFor(options).data);
    print(
      options,
      made,
      `Restored ${made.bytes} bytes into ${made.folder}. Check it with: lanternroom audit verify --data ${made.folder}`,
    );
  });
  common(
    program.command('doctor').description('look for what is wrong, and say what to do'),
    'doctor --data ./data',
  ).action(async (options: Common) => {
    const { examine } = await import('./doctor.ts');
    const findings = await examine(options);
    const bad = findings.filter((f) => !f.ok);
    print(
      options,
      { ok: bad.length === 0, findings },
      findings.map((f) => `${f.ok ? 'ok  ' : 'BAD '} ${f.what}`).join('\n'),
    );
    if (bad.length > 0) throw new Error(`${bad.length} of ${findings.length} checks failed.`);
  });
  common(
    program.command('config').description('every setting, with the value in force'),
    'config --data ./data',
  ).action((options: Common) => {
    const shown = settingsInForce(sourcesFor(options)).map(({ setting, value }) => ({
      name: setting.env,
      flag: setting.flag === undefined ? null : `--${setting.flag}`,
      value: setting.secret && value !== null ? '(set)' : value,
    }));
    const words = shown.map((s) => `${s.name}=${s.value ?? ''}`).join('\n');
    print(options, { data: configFor(options).data, settings: shown }, words);
  });
}

function verify(options: Common): Promise<void> {
  return withGround(options, async (ground) => {
    const space = await findSpace(ground, options);
    const verdict = await ground.auditor.verify(space.id, progressLine(options));
    const { verifiedAt, ...rest } = verdict;
    print(options, { ...rest, space: space.handle, verified_at: verifiedAt }, words(verdict, space.handle));
    if (!verdict.ok)
      throw new Error(
        `The record of @${space.handle} has been changed. Compare with a backup; keep this copy as evidence.`,
      );
  });
}

function words(verdict: Verdict, handle: string): string {
  if (verdict.ok)
    return `The record of @${handle} is whole: ${verdict.entries} entries, head ${verdict.head}.`;
  return verdict.problems.map((p) => p.problem).join('\n');
}

/** A line that moves on a terminal, and silence elsewhere. */
function progressLine(options: Common): ((entries: number) => void) | undefined {
  if (options.json || !process.stderr.isTTY) return undefined;
  return (entries) => process.stderr.write(`\r${entries} entries\r`);
}
