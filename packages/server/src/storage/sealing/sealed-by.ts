import { type Head, type HeadName, SERVER, type Store } from '../../core/store.ts';
import type { MasterVault } from '../vault.ts';
import type { KeptSecrets } from './vault-key.ts';

/** Which master keys the records of a store were sealed with; the newest first, one id unless a key is being replaced. */
const NOTE = 'vault' satisfies HeadName;
/** The secrets of the founding key that outlive it, sealed with the newest. */
const KEPT = 'kept-secrets' satisfies HeadName;

/** `null` means that the store has not recorded a key yet. */
export function assertSealedBy(noted: string | null, vault: MasterVault): void {
  const ids = noted?.split(',') ?? [];
  if (!ids.every((id) => vault.opens(id))) {
    throw new Error(
      'This is not the master key that the data was sealed with. Set LANTERNROOM_SECRET (or secret.key in the data folder) to the right one; nothing was changed.',
    );
  }
  // Only a starting server takes up a further key: other processes that use the data may not know it yet.
  const [newest] = ids;
  if (newest !== undefined && !ids.includes(vault.wantedKeyId)) vault.sealWith(newest);
}

/** After the store has opened: records the key of a new store, and loads the secrets that outlive their key. */
export async function noteSealedBy(store: Store, vault: MasterVault): Promise<void> {
  const { noted, kept } = await store.read(SERVER, async (tx) => ({
    noted: await tx.heads.get(NOTE),
    kept: await tx.heads.get(KEPT),
  }));
  assertSealedBy(noted?.text ?? null, vault);
  if (kept !== null) vault.keep(toKept(vault, kept));
  else if (noted !== null) vault.keep(vault.keptOf(founding(noted)));
  if (noted !== null) return;
  await store.write(SERVER, [NOTE], async (tx) => {
    const head = await tx.heads.get(NOTE);
    if (head === null) tx.heads.set(NOTE, { n: 1, at: 0, text: vault.keyId });
    else assertSealedBy(head.text, vault); // another replica was first
  });
}

/** From now on the first of the given keys seals. True if there are records left that it did not seal. */
export async function takeUpKey(store: Store, vault: MasterVault): Promise<boolean> {
  const id = vault.wantedKeyId;
  const isNoted = (head: Head | null) => head?.text.split(',').includes(id) ?? false;
  const noted = await store.read(SERVER, (tx) => tx.heads.get(NOTE));
  if (isNoted(noted)) {
    vault.sealWith(id);
    return noted?.text !== id;
  }
  await store.write(SERVER, [NOTE, KEPT], async (tx) => {
    const head = await tx.heads.get(NOTE);
    const kept = await tx.heads.get(KEPT);
    if (head === null || isNoted(head)) return;
    if (kept === null) tx.heads.set(KEPT, fromKept(vault, vault.keptOf(founding(head))));
    tx.heads.set(NOTE, { ...head, n: head.n + 1, text: `${id},${head.text}` });
  });
  vault.sealWith(id);
  return true;
}

/** Called when no record of another key is left. */
export async function noteResealed(store: Store, vault: MasterVault): Promise<void> {
  await store.write(SERVER, [NOTE, KEPT], async (tx) => {
    const head = await tx.heads.get(NOTE);
    const kept = await tx.heads.get(KEPT);
    if (head === null) return;
    if (kept !== null) tx.heads.set(KEPT, fromKept(vault, toKept(vault, kept)));
    tx.heads.set(NOTE, { ...head, n: head.n + 1, text: vault.keyId });
  });
}

export async function notedKeys(store: Store): Promise<string[]> {
  const noted = await store.read(SERVER, (tx) => tx.heads.get(NOTE));
  return noted?.text.split(',') ?? [];
}

const founding = ({ text }: Head): string => text.split(',').at(-1) ?? '';

function fromKept(vault: MasterVault, { mac, words }: KeptSecrets): Head {
  const sealed = vault.seal(Buffer.concat([mac, words]), KEPT);
  return { n: 1, at: 0, text: Buffer.from(sealed).toString('base64') };
}

function toKept(vault: MasterVault, { text }: Head): KeptSecrets {
  const secrets = Buffer.from(vault.open(Buffer.from(text, 'base64'), KEPT));
  return { mac: secrets.subarray(0, 32), words: secrets.subarray(32) };
}
