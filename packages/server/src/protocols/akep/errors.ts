import { Type } from 'typebox';
import { type Door, HTTP_STATUS } from '../../http/errors.ts';

/** One sentence, and the field it is about; for /openapi.json. */
export const AkepErrorForm = Type.Object(
  {
    error: Type.String(),
    path: Type.Optional(Type.String()),
    oldest_cursor: Type.Optional(Type.String({ description: 'With 410: the oldest that is still good.' })),
  },
  { additionalProperties: true },
);

/** How AKEP words a refusal: one sentence, and 400 for whatever is wrong with what was sent (K3). */
export const AKEP_DOOR: Door = {
  status: {
    ...HTTP_STATUS,
    invalid_field: 400,
    missing_field: 400,
    unsupported_media_type: 400,
    target_not_allowed: 400,
    storage_full: 503,
  },
  headers: (fault) => (fault.fault === 'unauthorized' ? { 'www-authenticate': 'Bearer realm="akep"' } : {}),
  body: (fault) => ({
    error: fault.message,
    ...(fault.detail.field === undefined ? {} : { path: fault.detail.field }),
    ...fault.detail.extra,
  }),
};
