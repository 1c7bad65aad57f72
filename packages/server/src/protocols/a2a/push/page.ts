import type { JsonObject } from '../../../core/canonical.ts';
import type { PushConfig } from '../../../core/tasks/push/push.ts';
import { PAGE_MOST, type PushPage } from '../dialects/dialect.ts';
import { optionalCount, optionalId } from '../dialects/fields.ts';

/** Pages for 1.0. A task has few configurations, so all were read; the token is the last id that was shown. */
export function toPushPage(configs: readonly PushConfig[], params: JsonObject): PushPage {
  // In the protocol's definition, 0 means that no size was given.
  const pageSize = optionalCount(params, 'pageSize', { least: 0, most: PAGE_MOST }) || PAGE_MOST;
  const after = optionalId(params, 'pageToken') ?? '';
  const left = configs.filter(({ id }) => id > after).sort((a, b) => (a.id < b.id ? -1 : 1));
  const page = left.slice(0, pageSize);
  return { configs: page, nextPageToken: page.length < left.length ? (page.at(-1)?.id ?? '') : '' };
}
