import { request } from 'undici';
import { AGENT, KEY, startLanternroom } from '../servers.mjs';

export const AS_AGENT = { authorization: `Bearer ${KEY}` };

/** About a kilobyte each, all different: what an agent that drafts letters would hand in. */
export function deliveries(count) {
  return Array.from({ length: count }, (_, i) => ({
    agent_id: AGENT,
    provider: 'bench',
    type: 'output',
    headline: `Drafted the letter to customer ${i} about the delayed order`,
    summary: 'The letter explains the delay, names the new date and offers a refund of the shipping costs.',
    details: {
      customer: { number: 100_000 + i, name: `Customer ${i}`, language: 'en', since: '2019-04-02' },
      order: { number: `A-${7_000_000 + i}`, items: [{ sku: `SKU-${i}`, quantity: 2, price: 1999 }] },
      draft:
        'Dear customer, we are sorry to tell you that your order is late. The supplier has let us know that the ' +
        'goods leave the port next Tuesday, so that they should reach you within the week after. We have taken the ' +
        'shipping costs off your bill. If that is too late for you, answer this letter and we cancel the order.',
      tone: 'warm',
      checked: ['prices', 'dates', 'names', 'spelling'],
      sources: ['orders/2026-11', 'crm/notes', 'policy/refunds.md'],
      next: 'After approval the letter goes out by post and by mail, and the refund is booked the same day.',
      confidence: 0.93,
    },
    timeout_seconds: 86_400,
    task_id: `task-${i}`,
  }));
}

/** The load of a delivery; `unique` adds an Idempotency-Key, as the SDK does. */
export function deliverJob(times, unique = false) {
  return {
    method: 'POST',
    path: '/wake/v1/deliver',
    headers: AS_AGENT,
    bodies: deliveries(256).map((delivery) => JSON.stringify(delivery)),
    expect: 201,
    connections: 64,
    unique,
    ...times,
  };
}

/** Those that get a row for each delivery. */
export const DELIVERY_TABLES = ['deliveries', 'ledger'];

/** Through the door into this store, so that it holds one as a pattern for others. */
export async function deliverOne(folder, env = {}) {
  const server = await startLanternroom(folder, { env });
  const [body] = deliveries(1);
  const { statusCode } = await request(`http://127.0.0.1:${server.port}/wake/v1/deliver`, {
    method: 'POST',
    headers: { ...AS_AGENT, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (statusCode !== 201) throw new Error(`the delivery was refused: ${statusCode}`);
  await server.stop();
}
