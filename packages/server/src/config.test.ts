import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from './config.ts';
import { freshFolder } from './testing/folders.ts';

describe('a secret in a file of its own', () => {
  const secrets = ['LANTERNROOM_SECRET', 'DATABASE_URL', 'AKEP_WEBHOOK_SECRET', 'LANTERNROOM_INIT_AGENT_KEY'];

  test.each(secrets)(
    '[D29] %s_FILE that names an empty file is refused, not read as an empty secret',
    (name) => {
      const file = join(freshFolder(), 'empty');
      writeFileSync(file, ' \n');
      const env = { [`${name}_FILE`]: file };
      expect(() => readConfig({ flags: { data: freshFolder() }, env })).toThrow(
        `${name}_FILE names ${file}, which is empty.`,
      );
    },
  );
});

test('[D29] what is empty or null in lanternroom.json counts as not set', () => {
  const data = freshFolder();
  const settings = { LANTERNROOM_URL: null, LANTERNROOM_HOST: '', LANTERNROOM_INIT_EMAIL: null };
  writeFileSync(join(data, 'lanternroom.json'), JSON.stringify(settings));
  const { url, host, init } = readConfig({ flags: { data }, env: {} });
  expect({ url, host, email: init.email }).toEqual({ url: null, host: '127.0.0.1', email: null });
});
