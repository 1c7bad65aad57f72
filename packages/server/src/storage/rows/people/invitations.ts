import type { Invitation } from '../../../core/people/membership/invitation.ts';
import type { Role } from '../../../core/people/person.ts';
import type { InvitationRows } from '../../../core/people/store.ts';
import { insertOf, type Session, statement } from '../../statement.ts';
import type { Tables } from '../../tables.ts';

const insert = insertOf('invitations', [
  'space_id',
  'invitation_id',
  'digest',
  'email',
  'role',
  'person_id',
  'created_at',
  'expires_at',
  'accepted_at',
]);

const open = statement<{ space: string }>()((db, p) =>
  db
    .selectFrom('invitations')
    .selectAll()
    .where('space_id', '=', p.space)
    .where('accepted_at', 'is', null)
    .orderBy('created_at', 'desc'),
);

type ById = { space: string; id: string };

const accept = statement<ById & { at: number }>()((db, p) =>
  db
    .updateTable('invitations')
    .set({ accepted_at: p.at })
    .where('space_id', '=', p.space)
    .where('invitation_id', '=', p.id)
    .where('accepted_at', 'is', null),
);

const remove = statement<ById>()((db, p) =>
  db
    .deleteFrom('invitations')
    .where('space_id', '=', p.space)
    .where('invitation_id', '=', p.id)
    .where('accepted_at', 'is', null),
);

const removeOpenFor = statement<{ space: string; email: string }>()((db, p) =>
  db
    .deleteFrom('invitations')
    .where('space_id', '=', p.space)
    .where('email', '=', p.email)
    .where('accepted_at', 'is', null),
);

export function invitationRows(session: Session, space: string): InvitationRows {
  return {
    insert: async (i) => void (await session.run(insert, fromInvitation(i))),
    open: async () => (await session.all(open, { space })).map(toInvitation),
    accept: async (id, at) => void (await session.run(accept, { space, id, at })),
    remove: async (id) => void (await session.run(remove, { space, id })),
    removeOpenFor: async (email) => void (await session.run(removeOpenFor, { space, email })),
  };
}

export function toInvitation(row: Tables['invitations']): Invitation {
  return {
    space: row.space_id,
    id: row.invitation_id,
    digest: row.digest,
    email: row.email,
    role: row.role as Role,
    by: row.person_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    acceptedAt: row.accepted_at,
  };
}

function fromInvitation(i: Invitation): Tables['invitations'] {
  return {
    space_id: i.space,
    invitation_id: i.id,
    digest: i.digest,
    email: i.email,
    role: i.role,
    person_id: i.by,
    created_at: i.createdAt,
    expires_at: i.expiresAt,
    accepted_at: i.acceptedAt,
  };
}
