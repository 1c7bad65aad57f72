import { describe, expect, it } from 'vitest';
import { readOutput, readProgress } from './output.ts';

const parts = [{ text: 'Hello' }];
const completed = { state: 'completed', artifacts: [] };

describe('what a command writes', () => {
  it.each([
    ['text', 'Hello\n', 'Hello'],
    ['JSON of its own', '{"foo":1}\n', '{"foo":1}'],
    ['a list', '[1,2]', '[1,2]'],
    ['a state that is none', '{"state":"nonsense","text":"x"}', '{"state":"nonsense","text":"x"}'],
    ['a state to work in', '{"state":"working","text":"x"}', '{"state":"working","text":"x"}'],
    ['parts that are none', '{"state":"completed","message":{"parts":[{}]}}', /"parts":\[\{\}\]/],
    ['two objects', '{"state":"failed"}\n{"state":"failed"}', /^\{.*\n\{/],
    ['nothing', '', undefined],
    ['line breaks', '\n\n', undefined],
  ])('[A15] %s is the text of a completed task', (_name, output, said) => {
    const read = readOutput(output);
    expect(read).toMatchObject(completed);
    if (said instanceof RegExp) expect(read.said).toMatch(said);
    else expect(read.said).toBe(said);
  });

  it.each([
    ['{"state":"completed","text":"Hello"}', 'completed', 'Hello'],
    ['{"state":"failed","text":"No"}', 'failed', 'No'],
    ['{"state":"input_required","text":"May I?"}', 'input_required', 'May I?'],
    ['{"state":"input-required","text":"May I?"}', 'input_required', 'May I?'],
    ['{"state":"TASK_STATE_INPUT_REQUIRED","text":"May I?"}', 'input_required', 'May I?'],
    ['{"state":"auth_required"}', 'auth_required', undefined],
    ['{"state":"rejected","message":"Not mine"}', 'rejected', 'Not mine'],
  ])('[A15] %s has a state', (output, state, said) => {
    expect(readOutput(output)).toEqual({ state, said, artifacts: [] });
  });

  it.each([
    ['1.0', { parts: [{ text: 'Hello' }] }],
    ['0.3', { kind: 'message', parts: [{ kind: 'text', text: 'Hello' }] }],
    ['the seed', { role: 'agent', parts: [{ type: 'text', text: 'Hello' }] }],
  ])('[A15] a message as in %s', (_name, message) => {
    expect(readOutput(JSON.stringify({ state: 'completed', message }))).toEqual({
      ...completed,
      said: { parts },
    });
  });

  it('[A15] a message alone, and a whole task', () => {
    const message = {
      role: 'agent',
      kind: 'message',
      messageId: 'm',
      parts: [{ kind: 'text', text: 'Hello' }],
    };
    expect(readOutput(JSON.stringify(message))).toEqual({ ...completed, said: { parts } });
    const artifact = { artifactId: 'a', name: 'n', description: 'd', parts };
    const task = { id: 't', kind: 'task', status: { state: 'failed', message }, artifacts: [artifact] };
    expect(readOutput(JSON.stringify(task))).toEqual({
      state: 'failed',
      said: { parts },
      artifacts: [artifact],
    });
  });

  it.each([
    [{ data: { n: 1 } }, { data: { n: 1 } }],
    [{ kind: 'data', data: [1] }, { data: [1] }],
    [
      { raw: 'dGNr', mediaType: 'text/plain', filename: 'a.txt' },
      { raw: 'dGNr', mediaType: 'text/plain', filename: 'a.txt' },
    ],
    [
      { url: 'https://e.example/a', media_type: 'text/plain' },
      { url: 'https://e.example/a', mediaType: 'text/plain' },
    ],
    [
      { kind: 'file', file: { bytes: 'dGNr', mimeType: 'text/plain', name: 'a.txt' } },
      { raw: 'dGNr', mediaType: 'text/plain', filename: 'a.txt' },
    ],
    [{ type: 'file', file: { uri: 'https://e.example/a' } }, { url: 'https://e.example/a' }],
    [
      { type: 'text', text: '# x', metadata: { mediaType: 'text/markdown' } },
      { text: '# x', mediaType: 'text/markdown', metadata: { mediaType: 'text/markdown' } },
    ],
  ])('[A15] the part %j', (part, read) => {
    const said = readOutput(JSON.stringify({ state: 'completed', message: { parts: [part] } })).said;
    expect(said).toEqual({ parts: [read] });
  });

  it('[A15] an artifact may be just its text', () => {
    const output = JSON.stringify({ state: 'completed', artifacts: [{ name: 'a.md', text: '# x' }] });
    expect(readOutput(output).artifacts).toEqual([{ name: 'a.md', parts: [{ text: '# x' }] }]);
  });
});

describe('progress', () => {
  it.each([
    ['{"state":"working","text":"half"}', { kind: 'status', said: 'half' }],
    [
      '{"kind":"status-update","status":{"state":"working","message":{"parts":[{"kind":"text","text":"Hello"}]}}}',
      { kind: 'status', said: { parts } },
    ],
    [
      '{"artifact":{"name":"a","parts":[{"text":"Hello"}]},"append":true,"last_chunk":false}',
      { kind: 'artifact', artifact: { name: 'a', parts }, append: true, lastChunk: false },
    ],
    ['{"state":"completed","text":"x"}', null],
    ['{"state":"working"}', null],
    ['{"artifact":3}', null],
    ['half way', null],
    ['{', null],
  ])('[A15] %s', (line, progress) => {
    expect(readProgress(line)).toEqual(progress);
  });
});
