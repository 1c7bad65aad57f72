import type { PersonId, SpaceId } from '../../ids.ts';
import type { Micros } from '../../time.ts';
import type { Role } from '../person.ts';

/** A link that makes one person of the space, once. Only its digest is kept. */
export type Invitation = {
  space: SpaceId;
  id: string;
  digest: string;
  email: string;
  role: Role;
  /** Who invited. */
  by: PersonId;
  createdAt: Micros;
  expiresAt: Micros;
  acceptedAt: Micros | null;
};

export function isOpen(invitation: Pick<Invitation, 'acceptedAt' | 'expiresAt'>, now: Micros): boolean {
  return invitation.acceptedAt === null && invitation.expiresAt > now;
}
