import type { FastifyInstance } from 'fastify';
import type { JsonObject } from '../../core/canonical.ts';
import { type Composing, dropDraft, keepDraft } from '../../core/deliveries/decision/composing.ts';
import type { Verdict } from '../../core/deliveries/delivery.ts';
import { ExactJson } from '../../core/exact-json.ts';
import { orThrow } from '../../core/faults.ts';
import { isLongerThan } from '../../core/text.ts';
import { toIso } from '../../core/time.ts';
import { objectBody } from '../../http/reading/body.ts';
import { choice, invalid } from '../../http/reading/fields.ts';
import type { Shell } from '../../http/shell.ts';
import { requireRole } from '../auth.ts';
import { FEEDBACK_MOST, toEdited, VERDICTS } from '../mapping.ts';
import { caller } from '../person.ts';

type ById = { Params: { id: string } };

/** What a person is writing, kept so that no reload loses it. */
export function draftRoutes(app: FastifyInstance, { room }: Shell): void {
  app.put<ById>('/desk/deliveries/:id/draft', async (request, reply) => {
    const person = caller(request);
    requireRole(person, 'decider');
    const draft = toComposing(objectBody(request.body));
    orThrow(await keepDraft(room, person, request.params.id, draft));
    return reply.code(204).send();
  });

  app.delete<ById>('/desk/deliveries/:id/draft', async (request, reply) => {
    const person = caller(request);
    requireRole(person, 'decider');
    orThrow(await dropDraft(room, person, request.params.id));
    return reply.code(204).send();
  });
}

/** Half-written answers are normal here: fields may be empty or missing, only their types are checked. */
function toComposing({ value: body, raw }: { value: JsonObject; raw: Buffer }): Composing {
  const { mode = null, feedback = '' } = body;
  if (feedback !== null && typeof feedback !== 'string')
    throw invalid('feedback', 'feedback must be a string.');
  if (isLongerThan(feedback ?? '', FEEDBACK_MOST))
    throw invalid('feedback', `feedback may have at most ${FEEDBACK_MOST} characters.`);
  return { mode: toMode(mode), feedback: feedback ?? '', editedContent: toEdited(body, raw) };
}

function toMode(mode: unknown): Verdict | null {
  return mode === null ? null : choice('mode', mode, VERDICTS);
}

export function fromComposing(draft: (Composing & { savedAt: number }) | null) {
  if (draft === null) return null;
  const { mode, feedback, editedContent, savedAt } = draft;
  return { mode, feedback, edited_content: new ExactJson(editedContent), saved_at: toIso(savedAt) };
}
