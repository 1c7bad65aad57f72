import { type Door, errorBody, HTTP_STATUS } from '../http/errors.ts';

/** How the desk words a refusal. */
export const DESK_DOOR: Door = {
  status: HTTP_STATUS,
  headers: (fault) => (fault.fault === 'unauthorized' ? { 'www-authenticate': 'Bearer realm="desk"' } : {}),
  body: errorBody,
};
