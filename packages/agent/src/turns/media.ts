const BY_ENDING: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  css: 'text/css',
  diff: 'text/x-diff',
  gif: 'image/gif',
  htm: 'text/html',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  log: 'text/plain',
  md: 'text/markdown',
  patch: 'text/x-diff',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  webp: 'image/webp',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  zip: 'application/zip',
};

/** By the ending of the name; the desk shows text and pictures inline. */
export function mediaTypeOf(filename: string): string {
  const ending = /\.([a-z0-9]+)$/i.exec(filename)?.[1]?.toLowerCase() ?? '';
  return BY_ENDING[ending] ?? 'application/octet-stream';
}
