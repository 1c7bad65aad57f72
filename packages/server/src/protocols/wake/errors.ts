import { type Door, errorBody, HTTP_STATUS } from '../../http/errors.ts';

/** How WAKE words a refusal: the statuses of HTTP, one body shape, and the realm on 401 (W1). */
export const WAKE_DOOR: Door = {
  status: HTTP_STATUS,
  headers: (fault) => (fault.fault === 'unauthorized' ? { 'www-authenticate': 'Bearer realm="wake"' } : {}),
  body: errorBody,
};
