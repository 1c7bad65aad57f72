import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

const TEXT = /\.(js|css|html|svg|txt|webmanifest)$/;
const TOO_SMALL = 1024;

/** Writes `.br` and `.gz` beside what compresses well; the server picks by what the browser accepts. */
export function compressed(): Plugin {
  let outDir = '';
  return {
    name: 'lanternroom:compressed',
    apply: 'build',
    configResolved: (config) => {
      outDir = join(config.root, config.build.outDir);
    },
    closeBundle: () => {
      for (const name of readdirSync(outDir, { recursive: true, encoding: 'utf8' })) {
        if (TEXT.test(name)) compressFile(join(outDir, name));
      }
    },
  };
}

function compressFile(path: string): void {
  const bytes = readFileSync(path);
  if (bytes.length < TOO_SMALL) return;
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  const quality = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: quality }));
}
