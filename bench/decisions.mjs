import { request } from 'undici';

/** A person's script approves one delivery; with an undo window of 0 it is in effect when this returns. */
export async function decide({ port }, token, { id, contentHash }) {
  const { statusCode, body } = await request(`http://127.0.0.1:${port}/desk/deliveries/${id}/decision`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ status: 'approved', feedback: 'Send it.', content_sha256: contentHash }),
  });
  const answer = await body.text();
  if (statusCode !== 200) throw new Error(`the decision was answered with ${statusCode}: ${answer}`);
}
