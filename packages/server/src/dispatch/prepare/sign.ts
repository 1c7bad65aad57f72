import { createHmac } from 'node:crypto';
import { type Signing, signWebhook, type WebhookHeaders } from '@lanternroom/sdk/wake';

/** Signs by Node's own HMAC: WebCrypto hands each one to another thread and back, which takes ten times as long. */
export function signCallback(signing: Omit<Signing, 'hmac'>): Promise<WebhookHeaders> {
  const hmac = (key: Uint8Array, content: Uint8Array) => createHmac('sha256', key).update(content).digest();
  return signWebhook({ ...signing, hmac });
}
