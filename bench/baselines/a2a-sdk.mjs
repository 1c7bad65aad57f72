import { TaskState } from '@a2a-js/sdk';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';

/**
 * The baseline: the official A2A SDK on Express, with its store in memory. The agent inside it answers at once: what a
 * message says decides whether the task stays as it was taken, or is completed.
 */
const executor = {
  async execute({ taskId, contextId, userMessage }, bus) {
    const text = JSON.stringify(userMessage.parts);
    const status = (state) => ({ state, timestamp: new Date().toISOString(), message: undefined });
    const base = { contextId, artifacts: [], history: [userMessage], metadata: undefined };
    bus.publish(AgentEvent.task({ id: taskId, status: status(TaskState.TASK_STATE_SUBMITTED), ...base }));
    if (text.includes('complete')) {
      bus.publish(
        AgentEvent.statusUpdate({
          taskId,
          contextId,
          status: status(TaskState.TASK_STATE_COMPLETED),
          metadata: undefined,
        }),
      );
    }
    bus.finished();
  },
  async cancelTask() {},
};

const card = {
  name: 'baseline',
  description: 'The official SDK.',
  version: '1.0.0',
  supportedInterfaces: [
    { url: 'http://127.0.0.1/', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' },
  ],
  capabilities: { streaming: true, pushNotifications: false, extensions: [] },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
  securitySchemes: {},
  securityRequirements: [],
  signatures: [],
};

const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
const app = express();
app.use('/', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
const server = app.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit());
