const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'] as const;

type Manifest = { readonly [kind in (typeof KINDS)[number]]?: Readonly<Record<string, string>> };
type Lock = { readonly packages: Readonly<Record<string, Manifest & { readonly resolved?: string }>> };

/** The packages of a lock file that name the host they came from. Links to workspaces are paths and stay. */
export function hostsInLock(lock: Lock): string[] {
  return Object.entries(lock.packages)
    .filter(([, { resolved }]) => resolved?.includes('://'))
    .map(([name]) => name);
}

/**
 * The workspaces (the root is '') whose package.json disagrees with the lock file. Set-up installs with `npm install`,
 * which tolerates this, so nobody would notice.
 */
export function driftFromLock(lock: Lock, manifests: Readonly<Record<string, Manifest>>): string[] {
  return Object.entries(manifests)
    .filter(([folder, manifest]) =>
      KINDS.some((kind) => asText(manifest[kind]) !== asText(lock.packages[folder]?.[kind])),
    )
    .map(([folder]) => folder);
}

const asText = (wanted: Readonly<Record<string, string>> = {}): string =>
  JSON.stringify(Object.entries(wanted).sort());
