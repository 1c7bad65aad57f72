import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';

/**
 * The Python package as a wheel, which pip installs without building anything. Written here because a machine that builds
 * the server need not have Python. A wheel is a zip of the modules and of texts about them (PEP 427).
 */
export function writeWheel(folder, destination) {
  const project = readProject(readFileSync(join(folder, 'pyproject.toml'), 'utf8'));
  const about = `lanternroom-${project.version}.dist-info`;
  const files = [
    ...modulesOf(folder),
    { path: `${about}/METADATA`, bytes: metadata(project, readFileSync(join(folder, 'README.md'), 'utf8')) },
    { path: `${about}/WHEEL`, bytes: Buffer.from(WHEEL) },
    { path: `${about}/licenses/LICENSE`, bytes: readFileSync(join(folder, 'LICENSE')) },
  ];
  files.push({ path: `${about}/RECORD`, bytes: record(files, `${about}/RECORD`) });
  writeFileSync(join(destination, `lanternroom-${project.version}-py3-none-any.whl`), zip(files));
}

const WHEEL = 'Wheel-Version: 1.0\nGenerator: lanternroom\nRoot-Is-Purelib: true\nTag: py3-none-any\n';

/** Reads the few plain lines that we need; the rest is for setuptools. */
function readProject(toml) {
  const value = (name) => new RegExp(`^${name} = "(.*)"$`, 'm').exec(toml)?.[1] ?? '';
  return {
    version: value('version'),
    description: value('description'),
    python: value('requires-python'),
    license: value('license'),
  };
}

function metadata({ version, description, python, license }, readme) {
  const head = [
    'Metadata-Version: 2.4',
    'Name: lanternroom',
    `Version: ${version}`,
    `Summary: ${description}`,
    `License-Expression: ${license}`,
    'License-File: LICENSE',
    `Requires-Python: ${python}`,
    'Description-Content-Type: text/markdown',
  ];
  return Buffer.from(`${head.join('\n')}\n\n${readme}`);
}

function modulesOf(folder) {
  return readdirSync(join(folder, 'lanternroom'), { recursive: true })
    .map((path) => `lanternroom/${path.replaceAll('\\', '/')}`)
    .filter((path) => /\.py$|\/py\.typed$/.test(path))
    .sort()
    .map((path) => ({ path, bytes: readFileSync(join(folder, path)) }));
}

function record(files, own) {
  const lines = files.map(({ path, bytes }) => {
    const digest = createHash('sha256').update(bytes).digest('base64url');
    return `${path},sha256=${digest},${bytes.length}`;
  });
  return Buffer.from(`${[...lines, `${own},,`].join('\n')}\n`);
}

const DEFLATED = 8;
const VERSION = 20;
/** 1 January 1980, the first day of the zip format: the same sources make the same bytes. */
const DAY = 0x21;

function zip(files) {
  const bodies = [];
  const entries = [];
  let offset = 0;
  for (const { path, bytes } of files) {
    const packed = deflateRawSync(bytes, { level: 9 });
    const name = Buffer.from(path);
    const common = commonHeader(name, bytes, packed);
    const local = Buffer.concat([uint32(0x04034b50), common, name, packed]);
    // Made by a zip of version 2.0; a plain file; its body begins at the offset.
    const rest = Buffer.concat([Buffer.alloc(10), uint32(offset)]);
    entries.push(Buffer.concat([uint32(0x02014b50), uint16(VERSION), common, rest, name]));
    bodies.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  const count = uint16(files.length);
  const end = [uint32(0x06054b50), Buffer.alloc(4), count, count, uint32(directory.length), uint32(offset)];
  return Buffer.concat([...bodies, directory, ...end, Buffer.alloc(2)]);
}

function commonHeader(name, bytes, packed) {
  return Buffer.concat([
    ...[VERSION, 0, DEFLATED, 0, DAY].map(uint16),
    ...[crc32(bytes), packed.length, bytes.length].map(uint32),
    ...[name.length, 0].map(uint16),
  ]);
}

function uint16(value) {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function uint32(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
