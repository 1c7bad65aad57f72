import { request } from 'undici';

/** A person's script approves one delivery; with an undo window of 0 it is in effect when this is answered. */
export const decision = (token, { id, contentHash }) => ({
  method: 'POST',
  path: `/desk/deliveries/${id}/decision`,
  headers: { authorization: `Bearer ${token}` },
  body: JSON.stringify({ status: 'approved', feedback: 'Send it.', content_sha256: contentHash }),
});

/** For steps that are not timed themselves. */
export async function decide({ port }, token, item) {
  const { method, path, headers, body } = decision(token, item);
  const { statusCode, body: answer } = await request(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  const text = await answer.text();
  if (statusCode !== 200) throw new Error(`the decision was answered with ${statusCode}: ${text}`);
}
