import type { SpaceId } from '../../ids.ts';
import type { Room } from '../../room.ts';

const SCHEME = 'lantern-upload:';
const PROOF_LENGTH = 32;

type Uploaded = { space: SpaceId; task: string };

/** Whether a text may hold the address of an upload at all. */
export function namesUpload(text: string): boolean {
  return text.includes(SCHEME);
}

export function isUploadUrl(url: string): boolean {
  return url.startsWith(SCHEME);
}

/**
 * The id alone is not enough: equal content has one id for all agents, and readers of a task see it in an address.
 * The part after the dot proves that it was uploaded for this task.
 */
export function toUploadUrl({ vault }: Pick<Room, 'vault'>, { space, task }: Uploaded, id: string): string {
  const proof = vault.mac(`upload\n${space}\n${task}\n${id}`).replace(/\W/g, '').slice(0, PROOF_LENGTH);
  return `${SCHEME}${id}.${proof}`;
}

/** The content behind such an address; null when it was not uploaded for this task. */
export function fromUploadUrl(room: Pick<Room, 'vault'>, at: Uploaded, url: string): string | null {
  const [id = ''] = url.slice(SCHEME.length).split('.', 1);
  return url === toUploadUrl(room, at, id) ? id : null;
}
