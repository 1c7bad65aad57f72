import { resolve } from 'node:path';
import type { Plugin } from 'vite';
import { noticesOf } from '../../scripts/notices.mjs';

/** Writes the licences of the programs and fonts that the page contains beside it. */
export function notices(): Plugin {
  let root = '';
  return {
    name: 'lanternroom:notices',
    apply: 'build',
    configResolved: (config) => {
      root = config.root;
    },
    generateBundle(_, bundle) {
      const files = Object.values(bundle).flatMap((part) =>
        part.type === 'chunk' ? part.moduleIds : part.originalFileNames.map((name) => resolve(root, name)),
      );
      this.emitFile({ type: 'asset', fileName: 'third-party.txt', source: noticesOf(files) });
    },
  };
}
