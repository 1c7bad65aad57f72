import { type Caller, createCaller, textIn } from '@lanternroom/sdk/a2a';
import { expect, test } from 'vitest';
import { Child, node } from '../support/command.ts';
import { inRepo } from '../support/folder.ts';
import { AGENT, Server } from '../support/server.ts';
import { given, until } from '../support/until.ts';

/** The agent of the kits, connected. */
async function kitAgent(): Promise<Caller> {
  const server = await Server.start();
  const env = { LANTERN_URL: server.url, WAKE_API_KEY: AGENT.key, TCK_STREAMING_TIMEOUT: '0.1' };
  const child = new Child(node(inRepo('test/conformance/kit-agent.mjs')), env);
  await until('the agent is connected', () => child.stdout.includes('Connected'));
  return createCaller({ agent: `${server.url}/@home/${AGENT.id}`, token: AGENT.key });
}

test('[A7][A12] the agent of the kits does what the beginning of a message id says', async () => {
  const caller = await kitAgent();
  const outcome = async (messageId: string) => {
    const answer = await caller.send('Hello', { messageId: `${messageId}-1` });
    if ('message' in answer) return textIn(answer.message);
    const { status, artifacts = [] } = answer.task;
    return [status.state, textIn(status.message), artifacts.flatMap(({ parts }) => parts)];
  };
  const file = { mediaType: 'text/plain', filename: 'output.txt' };
  const completed = (...parts: unknown[]) => ['TASK_STATE_COMPLETED', '', parts];
  expect(await outcome('tck-message-response')).toBe('Direct message response');
  expect(await outcome('tck-complete-task')).toEqual(['TASK_STATE_COMPLETED', 'Hello from TCK', []]);
  expect(await outcome('tck-reject-task')).toEqual(['TASK_STATE_REJECTED', 'rejected', []]);
  expect(await outcome('tck-input-required')).toEqual(['TASK_STATE_INPUT_REQUIRED', '', []]);
  expect(await outcome('tck-artifact-text')).toEqual(completed({ text: 'Generated text content' }));
  expect(await outcome('tck-artifact-file')).toMatchObject(completed({ ...file, raw: 'dGNr' }));
  expect(await outcome('tck-artifact-file-url')).toMatchObject(
    completed({ ...file, url: 'https://example.com/output.txt' }),
  );
  expect(await outcome('tck-artifact-data')).toEqual(completed({ data: { key: 'value', count: 42 } }));
  expect(await outcome('tck-stream-artifact-chunked')).toEqual(
    completed({ text: 'chunk-1 ' }, { text: 'chunk-2' }),
  );
});

test('[A10] a slow task of the kits can be subscribed to a second time', async () => {
  const caller = await kitAgent();
  const states: string[] = [];
  for await (const item of caller.stream('Hello', { messageId: 'test-resubscribe-message-id-1' })) {
    const state = (item.statusUpdate?.status ?? item.task?.status)?.state;
    if (state === 'TASK_STATE_WORKING') {
      const id = given(item.statusUpdate?.taskId ?? item.task?.id, 'task');
      for await (const again of caller.subscribe(id)) {
        const seen = (again.statusUpdate?.status ?? again.task?.status)?.state;
        if (seen !== undefined) states.push(seen);
      }
    }
  }
  expect(states.at(-1)).toBe('TASK_STATE_COMPLETED');
});
