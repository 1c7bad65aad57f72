import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Plugin } from 'vite';

const SHEETS = ['fonts.css', 'tokens.css', 'documents.css'];

/**
 * Writes `docs.css`, the look of the documents that the server renders: the fonts and colours of the desk, under an
 * address that does not change with each build.
 */
export function documentsStyle(): Plugin {
  let look = '';
  return {
    name: 'lanternroom:documents-style',
    apply: 'build',
    configResolved: (config) => {
      look = join(config.root, 'src/look');
    },
    generateBundle(_, bundle) {
      const built = new Map(
        Object.values(bundle).flatMap((part) =>
          part.type === 'asset' ? part.originalFileNames.map((name) => [basename(name), part.fileName]) : [],
        ),
      );
      const source = SHEETS.map((name) => readFileSync(join(look, name), 'utf8'))
        .join('\n')
        .replaceAll(/url\("([^"]+)"\)/g, (_, path: string) => {
          const file = built.get(basename(path));
          if (file === undefined) throw new Error(`docs.css needs ${path}, which is not part of the desk`);
          return `url("/${file}")`;
        });
      this.emitFile({ type: 'asset', fileName: 'docs.css', source });
    },
  };
}
