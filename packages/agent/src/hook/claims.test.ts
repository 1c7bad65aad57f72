import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openClaims } from './claims.ts';

it('[W23] a claim is whole at every moment, so that a hook can be killed at any', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lantern-claims-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const claims = openClaims(folder);
  const claim = { key: 'key', callId: null, deliveryId: null };
  await claims.keep('print', claim);
  let isWriting = true;
  const writing = (async () => {
    for (let i = 0; i < 200; i++) await claims.keep('print', { ...claim, callId: 'x'.repeat(20_000) });
    isWriting = false;
  })();
  while (isWriting) {
    expect(() => JSON.parse(readFileSync(join(folder, 'print.key'), 'utf8'))).not.toThrow();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await writing;
  expect(readdirSync(folder)).toEqual(['print.key']);
  expect(await claims.orphan('print')).toMatchObject({ key: 'key' });
});
