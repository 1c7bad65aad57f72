import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LICENCE = /^(licen[cs]e|copying|notice)/i;

/**
 * The licences of everything that these files come from: whoever passes a bundle on passes on the work of others, and
 * their licences ask for their words to come along. Files of our own name nobody.
 */
export function noticesOf(files) {
  const packages = new Map();
  for (const file of files) {
    const folder = packageOf(file);
    if (folder !== null) packages.set(folder, noticeOf(folder));
  }
  return `${INTRODUCTION}\n${[...new Set(packages.values())].sort().join('')}`;
}

const INTRODUCTION = 'Lanternroom contains parts of the packages below, under their own licences.\n';

/** The folder of the package that a file was installed with; packages may have further package.json inside. */
function packageOf(file) {
  const path = file.replaceAll('\\', '/').replace(/^\0/, '');
  const found = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/?]+)\//.exec(path);
  return found !== null && existsSync(join(found[1], 'package.json')) ? found[1] : null;
}

function noticeOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const texts = readdirSync(folder)
    .filter((file) => LICENCE.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  const words =
    texts.length > 0 ? texts.join('\n\n') : `The package brings no text of its licence, ${license}.`;
  return `\n${'-'.repeat(80)}\n${name} ${version} (${license})\n\n${words}\n`;
}
