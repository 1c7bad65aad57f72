import { existsSync, statfsSync, statSync } from 'node:fs';
import { counted } from '../core/counted.ts';
import { type Ground, openGround } from '../ground.ts';
import { integrityProblems } from '../storage/folder/backup.ts';
import { holdsStore } from '../storage/folder/data-folder.ts';
import { type Common, configFor } from './with-ground.ts';

export type Finding = { ok: boolean; what: string };

const LEAST_FREE = 256 * 1024 * 1024;

/** Looks at the machine, then the store; each finding is one sentence. */
export async function examine(options: Common): Promise<Finding[]> {
  const config = configFor(options);
  const findings: Finding[] = [node(), ...folder(config.data)];
  try {
    if (config.databaseUrl === null && !holdsStore(config.data)) {
      return [
        ...findings,
        { ok: true, what: `No data in ${config.data} yet: "lanternroom serve" makes it.` },
      ];
    }
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
        : `Nobody but its owner can look into ${path}.`,
    },
    { ok: free > LEAST_FREE, what: `${Math.round(free / 1024 / 1024)} MiB are free on its disk.` },
  ];
}

function file({ data: { local } }: Ground): Finding[] {
  if (local === null) return [{ ok: true, what: 'PostgreSQL answers, takes writes, and has our schema.' }];
  const [problem] = integrityProblems(local.store.session.db);
  if (problem === undefined) return [{ ok: true, what: 'The database file is sound.' }];
  return [{ ok: false, what: `The database file is damaged: ${problem}. Restore a backup.` }];
}

async function store(ground: Ground): Promise<Finding[]> {
  const findings = file(ground);
  for (const { id, handle } of await ground.auditor.spaces()) {
    const verdict = await ground.auditor.verify(id);
    const what = verdict.ok
      ? `The record of @${handle} is whole (${counted(verdict.entries, 'entry')}).`
      : `The record of @${handle} was changed: ${verdict.problems[0]?.problem}.`;
    findings.push({ ok: verdict.ok, what });
  }
  return findings;
}
