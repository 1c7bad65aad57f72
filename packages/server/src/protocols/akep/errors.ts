import { type Door, HTTP_STATUS } from '../../http/errors.ts';

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
