import { createHash } from 'node:crypto';
import type { Command } from 'commander';
import { settingsInForce, UsageError } from '../config.ts';
import { counted } from '../core/counted.ts';
import type { Verdict } from '../core/ledger/audit.ts';
import type { Space } from '../core/store.ts';
import type { Ground } from '../ground.ts';
import {
  type Common,
  common,
  configFor,
  findSpace,
  inSpace,
  print,
  sourcesFor,
  withGround,
} from './with-ground.ts';

/** Looking after it: the record, copies, and what is wrong. Each loads its own code, so that help comes at once. */
export function addKeepingCommands(program: Command): void {
  const audit = program
    .command('audit')
    .description('The ledger: the append-only record of everything that changed');
  inSpace(
    audit
      .command('verify')
      .description('follow the hash chain from the first line to the last, in all spaces or in one'),
    'audit verify --json',
    'audit verify --space second-team',
  ).action(verify);

  common(
    program.command('backup <file>').description('copy everything into one file, also while the server runs'),
    'backup lanternroom.backup',
  )
    .option('--force', 'replace the file if it exists')
    .action(makeBackup);
  common(
    program.command('restore <file>').description('put a backup into an empty data folder'),
    'restore lanternroom.backup --data ./restored',
  ).action(restoreBackup);
  common(
    program.command('doctor').description('look for what is wrong, and say what to do'),
    'doctor --data ./data',
  ).action(examineAll);
  common(
    program.command('config').description('every setting, with the value in force'),
    'config --data ./data',
  ).action(showSettings);
}

function makeBackup(file: string, options: Common & { force?: boolean }): Promise<void> {
  return withGround(options, async ({ data }) => {
    const { backup } = await import('../storage/folder/backup.ts');
    const made = backup(data, file, options.force === true);
    print(
      options,
      made,
      `Copied ${made.bytes} bytes to ${made.file}. Keep ${made.secret ?? 'the value of LANTERNROOM_SECRET'} with it: without the master key it cannot be read.`,
    );
  });
}

async function restoreBackup(file: string, options: Common): Promise<void> {
  const { data, databaseUrl } = configFor(options);
  if (databaseUrl !== null)
    throw new UsageError(
      'A backup is of a data folder, and DATABASE_URL names PostgreSQL. Restore it without DATABASE_URL, then move it there with: lanternroom migrate',
    );
  const { restore } = await import('../storage/folder/backup.ts');
  const made = restore(file, data);
  print(
    options,
    made,
    `Restored ${made.bytes} bytes into ${made.folder}. Check it with: lanternroom audit verify --data ${made.folder}`,
  );
}

async function examineAll(options: Common): Promise<void> {
  const { examine } = await import('./doctor.ts');
  const findings = await examine(options);
  const bad = findings.filter((f) => !f.ok);
  print(
    options,
    { ok: bad.length === 0, findings },
    findings.map((f) => `${f.ok ? 'ok  ' : 'BAD '} ${f.what}`).join('\n'),
  );
  if (bad.length > 0) throw new Error(`${bad.length} of ${counted(findings.length, 'check')} failed.`);
}

function showSettings(options: Common): void {
  const shown = settingsInForce(sourcesFor(options)).map(({ setting, value }) => ({
    name: setting.env,
    flag: setting.flag === undefined ? null : `--${setting.flag}`,
    value: setting.secret && value !== null ? '(set)' : value,
  }));
  const words = shown.map((s) => `${s.name}=${s.value ?? ''}`).join('\n');
  print(options, { data: configFor(options).data, settings: shown }, words);
}

type Verified = { space: string; verdict: Verdict };

/**
 * The named space, or all of them: nobody should believe that the whole record is sound because one space was
 * checked.
 */
function verify(options: Common): Promise<void> {
  return withGround(options, async (ground) => {
    const spaces = await spacesFor(ground, options);
    const verified: Verified[] = [];
    for (const { id, handle } of spaces) {
      verified.push({ space: handle, verdict: await ground.auditor.verify(id, progressLine(options)) });
    }
    print(options, toReport(verified), verified.map(words).join('\n'));
    const changed = verified.filter(({ verdict }) => !verdict.ok).map(({ space }) => `@${space}`);
    if (changed.length > 0) {
      throw new Error(
        `The record of ${changed.join(', ')} has been changed. Compare with a backup; keep this copy as evidence.`,
      );
    }
  });
}

async function spacesFor(ground: Ground, options: Common): Promise<readonly Pick<Space, 'id' | 'handle'>[]> {
  const spaces = options.space === undefined ? await ground.auditor.spaces() : [];
  return spaces.length > 0 ? spaces : [await findSpace(ground, options)];
}

function toReport(verified: readonly Verified[]): object {
  const each = verified.map(({ space, verdict: { verifiedAt, ...rest } }) => ({
    ...rest,
    space,
    verified_at: verifiedAt,
  }));
  const [only] = each;
  if (each.length === 1 && only !== undefined) return only;
  return {
    ok: each.every(({ ok }) => ok),
    entries: each.reduce((sum, { entries }) => sum + entries, 0),
    head: createHash('sha256')
      .update(each.map(({ head }) => head).join('\n'))
      .digest('hex'),
    spaces: each,
  };
}

function words({ space, verdict }: Verified): string {
  if (verdict.ok)
    return `The record of @${space} is whole: ${counted(verdict.entries, 'entry')}, head ${verdict.head}.`;
  return verdict.problems.map(({ problem }) => `@${space}: ${problem}`).join('\n');
}

/** A line that is rewritten in place on a terminal, and nothing elsewhere. */
function progressLine(options: Common): ((entries: number) => void) | undefined {
  if (options.json || !process.stderr.isTTY) return undefined;
  return (entries) => process.stderr.write(`\r${counted(entries, 'entry')}\r`);
}
