import { createWake } from '../../wake/client.ts';
import { signWebhook } from '../../wake/signature.ts';
import { verifyWebhook } from '../../wake/webhook.ts';
import type { Examples } from './stage.ts';

/** The `@example` of everything public in wake/, under its name: compiled with the rest, and run by examples.test.ts. */
export const wakeExamples: Examples = {
  async createWake({ url }) {
    const wake = createWake({ url, apiKey: process.env.WAKE_API_KEY ?? '', provider: 'claude' });
    return wake;
  },

  async deliver({ wake }) {
    const { deliveryId } = await wake.deliver({
      type: 'question',
      headline: 'Release is ready',
      summary: 'Ship 2.1 today?',
    });
    return deliveryId;
  },

  async check({ wake, deliveryId }) {
    const answer = await wake.check(deliveryId); // answer.status may be 'pending'
    return answer;
  },

  async waitFor({ wake, deliveryId, note: ship }) {
    const answer = await wake.waitFor(deliveryId, {
      onTimeout: { assumption: 'Nobody objects to the draft.' },
    });
    if (answer.mayProceed) ship();
  },

  async sweep({ wake, note: dispatch }) {
    let since: string | null | undefined;
    for await (const answer of wake.sweep({ since, follow: true })) {
      dispatch(answer);
      since = answer.resumeFrom;
    }
  },

  async withdraw({ wake, deliveryId }) {
    await wake.withdraw(deliveryId, 'The build failed, there is nothing to ship.');
  },

  async receive({ wake, secret, callback }) {
    const { body: rawBody, ...request } = await callback();
    const received = await wake.receive({ secret, body: rawBody, headers: request.headers });
    return received;
  },

  async adopt({ wake, deliveryId: idFromMyDatabase }) {
    await wake.adopt(idFromMyDatabase);
  },

  async Answer({ wake, deliveryId, draft, note: publish }) {
    const merge = (...parts: unknown[]) => parts;
    const answer = await wake.waitFor(deliveryId);
    if (answer.mayProceed) await publish(draft);
    else if (answer.status === 'redirected') await publish(merge(draft, answer.instructions));
  },

  async signWebhook({ secret, deliveryId, receiver: callback }) {
    const body = '{}';
    const headers = await signWebhook({
      secrets: [secret],
      body,
      id: deliveryId,
      timestamp: Math.floor(Date.now() / 1000),
    });
    await fetch(callback, { method: 'POST', headers, body });
  },

  async verifyWebhook({ callback, note: handle, note: reply }) {
    const { body: rawBody, ...request } = await callback();
    const result = await verifyWebhook({
      secret: process.env.WAKE_WEBHOOK_SECRET,
      body: rawBody,
      headers: request.headers,
    });
    if (!result.ok) return reply(401, result.reason);
    handle(result.response);
  },

  async recall({ wake, draft }) {
    const key = 'refund-A-17';
    const deliveryId =
      (await wake.recall(key)) ?? (await wake.deliver(draft, { idempotencyKey: key })).deliveryId;
    return deliveryId;
  },
};
