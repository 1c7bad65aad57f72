import { describe, expect, test } from 'vitest';
import { ExactJson, exactText } from '../../core/exact-json.ts';
import { AT_ONCE, body, openDesk } from '../../testing/desk/desk.ts';
import { sampleDelivery, type World } from '../../testing/world.ts';

const ACCOUNT = '90071992547409931234';
const DETAILS = `{"account": ${ACCOUNT}, "rate": 1.10, "small": 1e-7, "name": "a \\"quoted\\" one"}`;
const EDITED = '{"account":90071992547409931235,"rate":1.100,"list":[10000000000000000000001]}';

async function delivered(env: Record<string, string> = {}) {
  const { world } = await openDesk({ env });
  const sent = JSON.stringify({ ...sampleDelivery('agent-01'), details: 0 });
  const reply = await world.post('/wake/v1/deliver', sent.replace('"details":0', `"details":${DETAILS}`));
  const { delivery_id: id } = (await reply.json()) as { delivery_id: string };
  const text = await (await world.desk('GET', `/desk/deliveries/${id}`)).text();
  return { world, id, text, hash: (JSON.parse(text) as { content_sha256: string }).content_sha256 };
}

/** As the desk sends it: the numbers are text of the body, and never pass through a parser here. */
function send(world: World, method: string, path: string, text: string): Promise<Response> {
  return fetch(world.url + path, {
    method,
    headers: { authorization: `Bearer ${world.token}`, 'content-type': 'application/json' },
    body: text,
  });
}

describe('numbers that a double cannot hold', () => {
  test('[D59] reach the person as the agent wrote them', async () => {
    const { text } = await delivered();
    expect(text).toContain(`"details":${DETAILS}`);
    expect(JSON.parse(text)).toMatchObject({ details: { rate: 1.1, name: 'a "quoted" one' } });
  });

  test('[D59] reach the agent as the person wrote them: poll, sweep, inbox and history', async () => {
    const { world, id, hash } = await delivered(AT_ONCE);
    const answer = `{"status":"redirected","content_sha256":"${hash}","feedback":"so","edited_content":${EDITED}}`;
    await body(send(world, 'POST', `/desk/deliveries/${id}/decision`, answer));
    const [poll, sweep, inbox] = await Promise.all(
      [`/wake/v1/response/${id}`, '/wake/v1/responses', '/akep/events'].map(async (path) =>
        (await world.get(path)).text(),
      ),
    );
    for (const read of [poll, sweep, inbox]) expect(read).toContain(`"edited_content":${EDITED}`);
    for (const path of ['/desk/history', `/desk/deliveries/${id}`]) {
      expect(await (await world.desk('GET', path)).text()).toContain(`"edited_content":${EDITED}`);
    }
  });

  test('[D59] stay in a draft, also over a restart', async () => {
    const { world, id } = await delivered();
    const draft = `{"mode":"redirected","feedback":"so","edited_content":${EDITED}}`;
    expect((await send(world, 'PUT', `/desk/deliveries/${id}/draft`, draft)).status).toBe(204);
    await world.restart();
    const text = await (await world.desk('GET', `/desk/deliveries/${id}`)).text();
    expect(text).toContain(`"edited_content":${EDITED}`);
    expect(JSON.parse(text)).toMatchObject({ draft: { mode: 'redirected', feedback: 'so' } });
  });

  test('[D59] nobody can write the mark that exact pieces are put in by', () => {
    const text = exactText({ a: new ExactJson('1.0'), b: 'x:0', c: [new ExactJson(null)] });
    expect(text).toBe('{"a":1.0,"b":"x:0","c":[null]}');
    expect(exactText({ a: new ExactJson('"$&"') })).toBe('{"a":"$&"}');
    const written = { a: 'exact json', b: new ExactJson('1.0'), 'exact json': ['----'] };
    expect(exactText(written)).toBe('{"a":"exact json","b":1.0,"exact json":["----"]}');
    expect(JSON.stringify({ a: new ExactJson('1.0') })).toBe('{"a":1}');
  });

  test('[D59][W29] whoever writes it costs no more than they have sent, however many pieces there are', () => {
    const pieces = Array.from({ length: 20_000 }, (_, n) => [`n${n}`, new ExactJson(`${n}.0`)]);
    const many = {
      said: 'exact json',
      left: undefined,
      toJSON: [undefined, 1],
      ...Object.fromEntries(pieces),
    };
    const texts = pieces.map((_, n) => `"n${n}":${n}.0`).join();
    expect(exactText(many)).toBe(`{"said":"exact json","toJSON":[null,1],${texts}}`);
  });
});
