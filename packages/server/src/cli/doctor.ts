import { existsSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Ground, openGround } from '../ground.ts';
import { integrityProblems } from '../storage/backup.ts';
import { DATABASE_FILE } from '../storage/data-folder.ts';
import { type Common, configFor } from './ground.ts';

export type Finding = { ok: boolean; what: string };

const LEAST_FREE = 256 * 1024 * 1024;

/** Looks at the machine, then the store; each finding is one sentence. */
export async function examine(options: Common): Promise<Finding[]> {
  const config = configFor(options);
  const findings: Finding[] = [node(), ...folder(config.data)];
  if (!existsSync(join(config.data, DATABASE_FILE))) {
    return [...findings, { ok: true, what: `No data in ${config.data} yet: "lanternroom serve" makes it.` }];
  }
  try {
    const ground = await openGround(config);
    try {
      findings.push({ ok: true, what: 'The store opens with this master key.' }, ...(await store(ground)));
    } finally {
      await ground.stop();
    }
  } catch (reason) {
    findings.push({ ok: false, what: reason instanceof Error ? reason.message : String(reason) });
  }
  return findings;
}

function node(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const ok = major > 20 || (major === 20 && minor >= 19);
  return { ok, what: `Node ${process.versions.node}${ok ? '' : ': 20.19 or newer is needed'}.` };
}

function folder(path: string): Finding[] {
  if (!existsSync(path)) return [];
  const open = (statSync(path).mode & 0o077) !== 0;
  const { bavail, bsize } = statfsSync(path);
  const free = bavail * bsize;
  return [
    {
      ok: !open,
      what: open
        ? `Others on this machine can look into ${path}: chmod 700 ${path}`
        : `Only you can look into ${path}.`,
    },
    { ok: free > LEAST_FREE, what: `${Math.round(free / 1024 / 1024)} MiB are free on its disk.` },
  ];
}

async function store(ground: Ground): Promise<Finding[]> {
  const problems = integrityProblems(ground.data.store.session.db);
  const findings: Finding[] = [
    {
      ok: problems.length === 0,
      what:
        problems.length === 0
          ? 'The database file is sound.'
          : `The database file is damaged: ${problems[0]}. Restore a backup.`,
    },
  ];
  for (const { id, handle } of await ground.room.store.directory.spaces()) {
    const verdict = await ground.auditor.verify(id);
    const what = verdict.ok
      ? `The record of @${handle} is whole (${verdict.entries} entries).`
      : `The record of @${handle} was changed: ${verdict.problems[0]?.problem}.`;
    findings.push({ ok: verdict.ok, what });
  }
  return findings;
}
