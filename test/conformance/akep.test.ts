import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { AkepClient, sampleEvent, WEBHOOK_SECRET } from '../support/akep.ts';
import { Child, lanternroom } from '../support/command.ts';
import { inRepo } from '../support/folder.ts';
import { Server } from '../support/server.ts';

const HELLO = inRepo('test/seeds/samples/akep-hello-world.sh');
const EXAMPLE = inRepo('test/seeds/samples/akep-sense2ai-task-completed.json');
const SIGNER = inRepo('test/seeds/akep-sign-event.py');
const ENV = { AKEP_WEBHOOK_SECRET: WEBHOOK_SECRET };

const start = (env: Record<string, string | undefined> = ENV) => Server.start({ env });

const has = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;

/**
 * The hello-world exactly as in the README, except for the port. Where its tools are missing, the same bytes are sent
 * by hand.
 */
async function helloWorld(server: Server): Promise<string> {
  const script = readFileSync(HELLO, 'utf8').replace('http://127.0.0.1:8787', server.url);
  if (['bash', 'curl', 'openssl'].every(has)) {
    const { stdout } = await new Child(['bash', '-c', script]).ended;
    return stdout;
  }
  const body = /^BODY='(.*)'$/m.exec(script)?.[1] ?? '';
  return (await new AkepClient(server.url).send(JSON.parse(body))).text;
}

const signExample = async (server: Server, env = ENV): Promise<string> => {
  const args = ['--url', `${server.url}/akep/events`, '--event', EXAMPLE];
  return (await new Child(['python3', SIGNER, ...args], env).ended).stdout.trim();
};

describe("the AKEP project's README", () => {
  test('[K27][K10] the hello-world with curl works unedited against a fresh server, and again as a duplicate', async () => {
    const server = await start();
    expect(await helloWorld(server)).toBe('{"accepted":true,"duplicate":false}');
    expect(await helloWorld(server)).toBe('{"accepted":true,"duplicate":true}');
    const { json } = await new AkepClient(server.url).page(null);
    expect(json.events).toMatchObject([
      {
        event_id: 'evt_demo_01',
        source: { producer_id: 'prod_environment', name: 'demo' },
        knowledge: { summary: 'hello AKEP' },
      },
    ]);
  });

  test('[K27][K30] the quickstart: a signer as described sends the Sense2AI example, which is in the inbox as it is', async () => {
    const server = await start();
    expect(await signExample(server)).toBe('202 {"accepted":true,"duplicate":false}');
    const { text } = await new AkepClient(server.url).page(null);
    expect(text).toContain(readFileSync(EXAMPLE, 'utf8').trim());
    const task = await new AkepClient(server.url).request('GET', '/akep/tasks/task_123');
    expect(task.json).toMatchObject({
      status: 'completed',
      events: ['evt_sense2ai_01HX5S8ZQ9J6W9E5W4H8A2K7D3'],
      artifacts: [{ uri: 'https://sense2.ai/artifacts/sub_456' }],
    });
  });

  test('[K27][K3] with another secret, or without one set, both are refused', async () => {
    const server = await start();
    expect(await signExample(server, { AKEP_WEBHOOK_SECRET: 'another' })).toMatch(/^400 \{"error":"/);
    const without = await start({});
    expect(await signExample(without)).toMatch(/^400 \{"error":"/);
    expect(JSON.parse(await helloWorld(without))).toEqual({ error: expect.any(String) });
    expect(await new AkepClient(without.url).all()).toEqual([]);
  });

  test('[K30] the secret follows the environment over restarts', async () => {
    const server = await start();
    const changed = { AKEP_WEBHOOK_SECRET: 'changed' };
    await server.terminate();
    const second = await server.restart(changed);
    expect(await signExample(second)).toMatch(/^400 /);
    expect(await signExample(second, changed)).toMatch(/^202 /);
    await second.terminate();
    const third = await second.restart({ AKEP_WEBHOOK_SECRET: undefined });
    expect(await signExample(third, changed)).toMatch(/^400 /);
  });

  test('[K5] a producer from the command line signs with what it was given, until it is revoked', async () => {
    const server = await start();
    const space = ['--data', server.folder, '--json'];
    const run = async (...args: string[]) =>
      JSON.parse((await lanternroom(['producer', ...args, ...space])).stdout);
    const made = await run('add', 'sense2ai', '--live');
    expect(made).toMatchObject({ producer_id: 'prod_sense2ai', tier: 'live' });
    const client = new AkepClient(server.url);
    const source = { producer_id: 'prod_sense2ai', name: 'sense2ai', type: 'publisher' };
    const key = Buffer.from(String(made.secret).slice('whsec_'.length), 'base64');
    const send = (id: string) => client.send(sampleEvent(id, { source }), key);
    expect((await send('evt_command_line_1')).status).toBe(202);
    const rotated = await run('rotate', 'prod_sense2ai');
    expect(rotated).toMatchObject({
      secret: expect.stringMatching(/^whsec_/),
      others_expire_at: expect.any(String),
    });
    expect((await send('evt_command_line_2')).status).toBe(202);
    expect((await run('revoke', 'prod_sense2ai')).revoked).toHaveLength(2);
    expect((await send('evt_command_line_3')).status).toBe(400);
    const listed = await run('list');
    expect(listed.producers.map((p: { producer_id: string }) => p.producer_id)).toContain('prod_sense2ai');
  });
});
