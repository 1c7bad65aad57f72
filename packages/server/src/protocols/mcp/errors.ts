import { type Door, errorBody, HTTP_STATUS } from '../../http/errors.ts';

/** What is refused before MCP begins: plain HTTP statuses, one body shape, and the realm on 401. */
export const MCP_DOOR: Door = {
  status: HTTP_STATUS,
  headers: (fault) => (fault.fault === 'unauthorized' ? { 'www-authenticate': 'Bearer realm="mcp"' } : {}),
  body: errorBody,
};
