import { expect, test } from 'vitest';
import { geminiCall, hook, toolCall } from '../support/hook.ts';
import { sharedWorkplaces } from './desk.ts';

const openWorkplace = sharedWorkplaces();

const allowed = (stdout: string) => JSON.parse(stdout).hookSpecificOutput;

test('[W23] approved: the tool runs, and the person saw exactly what would run', async () => {
  const place = await openWorkplace();
  const call = toolCall();
  const running = hook(['claude'], call, place.env);
  const { delivery_id, headline, summary } = await place.question();
  expect({ headline, summary }).toEqual({
    headline: 'May Claude Code run Bash? npm publish',
    summary: 'In /srv/shop: npm publish',
  });
  const detail = await place.desk.request<Record<string, unknown>>('GET', `/desk/deliveries/${delivery_id}`);
  expect(detail.json).toMatchObject({
    type: 'question',
    provider: 'claude',
    details: { tool: 'Bash', input: call.tool_input, cwd: '/srv/shop', asked_by: 'Claude Code' },
  });
  await place.answer({ status: 'approved', feedback: 'Tag it too.' });
  const { code, stdout, stderr } = await running.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(allowed(stdout)).toEqual({
    hookEventName: 'PreToolUse',
    permissionDecision: 'allow',
    permissionDecisionReason: expect.any(String),
    additionalContext: 'The person said: Tag it too.',
  });
});

test('[W23] approved, in the words of Codex and of Gemini CLI', async () => {
  const place = await openWorkplace();
  const codex = hook(['codex'], toolCall(), place.env);
  await place.answer({ status: 'approved' });
  expect(await codex.ended).toMatchObject({ code: 0, stdout: '', stderr: '' });
  const gemini = hook(['gemini'], geminiCall(), place.env);
  await place.answer({ status: 'approved' });
  const said = await gemini.ended;
  expect([said.code, JSON.parse(said.stdout)]).toEqual([0, { decision: 'allow' }]);
});

test.each([
  ['claude', { status: 'rejected', feedback: 'Not on a Friday.' }, /The person said no: Not on a Friday\./],
  ['codex', { status: 'rejected' }, /The person said no\. Do not/],
  ['gemini', { status: 'redirected', feedback: 'Publish to staging.' }, /differently\. Publish to staging\./],
  ['claude', { status: 'redirected', edited_content: 'Use make release' }, /differently\. Use make release/],
])('[W23] %s: %j keeps the tool from running, and says why', async (host, answer, says) => {
  const place = await openWorkplace();
  const running = hook([host], host === 'gemini' ? geminiCall() : toolCall(), place.env);
  await place.answer(answer);
  const { code, stdout, stderr } = await running.ended;
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(says);
});

const edited = (input: unknown, over = {}) => ({
  status: 'redirected',
  edited_content: { tool: 'Bash', input, cwd: '/srv/shop', asked_by: 'Claude Code', ...over },
});

test('[W23] an edited input is what Claude Code runs', async () => {
  const place = await openWorkplace();
  const running = hook(['claude'], toolCall(), place.env);
  await place.answer(edited({ command: 'npm publish --dry-run' }));
  const { code, stdout } = await running.ended;
  expect(code).toBe(0);
  expect(allowed(stdout)).toMatchObject({
    permissionDecision: 'allow',
    updatedInput: { command: 'npm publish --dry-run' },
  });
});

test('[W23] an edit of anything but the input is no permission', async () => {
  const place = await openWorkplace();
  const running = hook(['claude'], toolCall(), place.env);
  await place.answer(edited({ command: 'npm publish' }, { cwd: '/somewhere/else' }));
  expect(await running.ended).toMatchObject({ code: 2, stdout: '' });
});

test('[W23] Gemini CLI is handed an edit that adds or changes, as it lays it over the input', async () => {
  const place = await openWorkplace();
  const running = hook(['gemini'], geminiCall({ tool_input: { command: 'ls' } }), place.env);
  await place.answer(edited({ command: 'ls -l' }, { tool: 'run_shell_command' }));
  const { code, stdout } = await running.ended;
  expect([code, JSON.parse(stdout).hookSpecificOutput.tool_input]).toEqual([0, { command: 'ls -l' }]);
});

test('[W23] where a host would run the old input, the agent has to call again with the new one, once', async () => {
  const place = await openWorkplace();
  const call = { tool_input: { command: 'rm -rf build', description: 'Clean' } };
  const first = hook(['codex'], toolCall(call), place.env);
  await place.answer(edited({ command: 'rm -rf build/cache' }));
  const { code, stdout, stderr } = await first.ended;
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('Call Bash again with exactly this input: {"command":"rm -rf build/cache"}');

  const next = { tool_input: { command: 'rm -rf build/cache' } };
  expect(await hook(['codex'], toolCall(next), place.env).ended).toMatchObject({ code: 0, stderr: '' });
  const third = hook(['codex'], toolCall(next), place.env);
  await place.answer({ status: 'rejected', feedback: 'Once was enough.' });
  expect((await third.ended).stderr).toContain('Once was enough.');
});

test.each([
  ['another', { command: 'rm -rf /srv/shop' }],
  ['the same', toolCall().tool_input],
])('[W23] the id of an earlier call does not lend its answer to %s call', async (_, tool_input) => {
  const place = await openWorkplace();
  const named = { tool_use_id: 'Bash:0' };
  const first = hook(['claude'], toolCall(named), place.env);
  await place.answer({ status: 'approved' });
  expect((await first.ended).code).toBe(0);
  const second = hook(['claude'], toolCall({ ...named, tool_input }), place.env);
  await place.answer({ status: 'rejected', feedback: 'Not this one.' });
  const { code, stderr } = await second.ended;
  expect([code, stderr]).toEqual([2, expect.stringContaining('Not this one.')]);
});

test('[W23] tools that only look pass without a question, also with no server', async () => {
  const env = { LANTERN_URL: 'http://127.0.0.1:1', WAKE_API_KEY: 'wk_test_nobody' };
  const calls = [
    [['claude'], toolCall({ tool_name: 'Read', tool_input: { file_path: 'a.ts' } })],
    [['claude'], toolCall({ tool_name: 'mcp__lanternroom__wake_deliver', tool_input: {} })],
    [['codex'], toolCall({ tool_name: 'update_plan', tool_input: {} })],
    [['gemini'], geminiCall({ tool_name: 'read_file', tool_input: {} })],
    [['claude', '--pass', 'mcp__docs__*'], toolCall({ tool_name: 'mcp__docs__search' })],
    [['claude', '--ask', 'Bash,Web*'], toolCall({ tool_name: 'Write' })],
  ] as const;
  for (const [args, call] of calls) {
    expect(await hook(args, call, env).ended).toMatchObject({ code: 0, stdout: '', stderr: '' });
  }
});

test('[W23] every other tool asks, one that nobody has heard of as well', async () => {
  const env = { LANTERN_URL: 'http://127.0.0.1:1', WAKE_API_KEY: 'wk_test_nobody' };
  const calls = [
    [['claude'], toolCall({ tool_name: 'BrandNewTool' })],
    [['claude'], toolCall({ tool_name: 'read' })],
    [['claude'], toolCall({ tool_name: 'mcp__lanternroom__a2a_send' })],
    [['claude'], toolCall({ tool_name: 'mcp__lanternroom2__wake_deliver' })],
    [['claude', '--ask', 'Bash,Web*'], toolCall({ tool_name: 'WebFetch' })],
    [['gemini'], geminiCall({ tool_name: 'write_file' })],
  ] as const;
  const ended = await Promise.all(calls.map(([args, call]) => hook(args, call, env).ended));
  for (const { code, stdout, stderr } of ended) {
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Nothing answers at http://127.0.0.1:1');
  }
});
