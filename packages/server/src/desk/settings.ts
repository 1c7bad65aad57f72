import type { FastifyInstance } from 'fastify';
import { orThrow } from '../core/faults.ts';
import { setPushTargets } from '../core/tasks/push/push-targets.ts';
import { SECOND } from '../core/time.ts';
import { objectBody } from '../http/reading/body.ts';
import { addresses } from '../http/reading/fields.ts';
import type { Shell } from '../http/shell.ts';
import { requireRole } from './auth.ts';
import { caller } from './person.ts';

/** What this server is, and the rules that its space has set for everybody. */
export function settingsRoutes(app: FastifyInstance, shell: Shell): void {
  const { room, baseUrl, about, mail } = shell;

  app.get('/desk/settings', async (request) => {
    const { space, role } = caller(request);
    return {
      version: about.version,
      url: baseUrl(),
      undo_seconds: room.settings.undoWindow / SECOND,
      retention_days: about.retentionDays,
      rates: room.settings.rates,
      mail,
      push_targets: (await room.store.read(space, (tx) => tx.spaces.get()))?.pushTargets ?? null,
      role,
    };
  });

  app.put('/desk/settings/push-targets', async (request) => {
    const person = caller(request);
    requireRole(person, 'owner');
    const { push_targets } = objectBody(request.body).value;
    const targets = push_targets === null ? null : addresses('push_targets', push_targets);
    const at = { space: person.space, targets };
    return { push_targets: orThrow(await setPushTargets(room, at, `person:${person.id}`)) };
  });
}
