import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { numbered } from './rows.mjs';
import { startWriter } from './thread.mjs';

/**
 * The least that takes messages for an agent as durably as we do: `node:http`, `JSON.parse`, the rows of a task
 * written in groups by a second thread (`a2a-rows.mjs`); where the caller waits, also `ws` to the agent, its report
 * in a second group, and the answer. There is one agent; no caller is identified, and nothing is looked up or
 * retried. Run with `{ file }`.
 */
const handOver = startWriter('./a2a-rows.mjs', JSON.parse(process.argv[2]));
const HELLO = { type: 'hello', agent: '@home/least', connectionId: 'least', maxFrameBytes: 2 ** 20 };
const asked = new Map();
let [agent, count] = [null, 0];

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => take(JSON.parse(Buffer.concat(chunks)), response));
});
new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket) => {
  agent = socket;
  socket.on('message', (data) => hear(JSON.parse(data)));
  socket.send(JSON.stringify(HELLO));
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit());

/** A task is known by its number, which is also that of its frame. */
function take({ id, params: { message, configuration } }, response) {
  const n = ++count;
  const [taskId, contextId] = [numbered(n), `ctx-${numbered(n)}`];
  const said = { ...message, contextId, taskId };
  const task = { id: taskId, contextId, history: [said] };
  const key = hashOf(message.messageId);
  handOver(Buffer.from(JSON.stringify(message)), { n, task: taskId, key }, () => {
    if (configuration.returnImmediately) return answer(response, id, task, { state: 'TASK_STATE_SUBMITTED' });
    asked.set(taskId, { n, id, task, response });
    agent.send(JSON.stringify({ type: 'task', id: `h${n}`, taskId, contextId, message: said }));
  });
}

/** What the agent acknowledges is forgotten with its report. */
function hear({ type, id: frame, taskId, message }) {
  if (type !== 'completed') return;
  const { n, id, task, response } = asked.get(taskId);
  asked.delete(taskId);
  const said = { ...message, contextId: task.contextId, taskId };
  // Unlike a caller's key it begins with its task, as ours does: neighbours lie on one page.
  const key = `task:${String(n).padStart(15, '0')}:${hashOf(frame).slice(0, 24)}`;
  handOver(Buffer.from(JSON.stringify(message)), { n, task: taskId, key, isEnd: true }, () => {
    agent.send(JSON.stringify({ type: 'ack', id: frame }));
    task.history.push(said);
    answer(response, id, task, { state: 'TASK_STATE_COMPLETED', message: said });
  });
}

const hashOf = (id) => createHash('sha1').update(id).digest('hex');

function answer(response, id, task, status) {
  const result = { task: { ...task, status: { ...status, timestamp: new Date().toISOString() } } };
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}
