import type { Shell } from '../../http/shell.ts';
import { LIMITS } from './schema.ts';

/** `/.well-known/akep.json`: what is really served (K23). */
export function discovery({ baseUrl }: Shell) {
  const url = baseUrl();
  return {
    spec: 'akep.v1',
    name: 'lanternroom',
    profiles: ['webhook', 'replay_inbox', 'relay', 'task_state', 'knowledge_publisher'],
    endpoints: {
      events: `${url}/akep/events`,
      replay: `${url}/akep/events`,
      wait: `${url}/akep/events/wait`,
      stream: `${url}/akep/events/stream`,
      relay: `${url.replace(/^http/, 'ws')}/akep/relay`,
      ack: `${url}/akep/events/{event_id}/ack`,
      tasks: `${url}/akep/tasks/{task_id}`,
      subscriptions: `${url}/akep/subscriptions`,
      waits: `${url}/akep/waits`,
      resumes: `${url}/akep/resumes`,
      policy: `${url}/akep/policy`,
      emit: `${url}/akep/emit`,
    },
    signature: {
      scheme: 'standard-webhooks',
      algorithms: ['v1', 'v1a'],
      tolerance_seconds: LIMITS.freshSeconds,
    },
    auth: { ingest: ['standard-webhooks'], inbox: ['bearer'] },
    content_types: ['application/json', 'application/cloudevents+json'],
    limits: { max_payload_bytes: 1_048_576, page: LIMITS.pageMost, wait_seconds: LIMITS.waitMost },
    retention: {
      unacknowledged_seconds_least: 604_800,
      replay_retention_seconds: { least: 86_400, most: 2_592_000 },
    },
    resume_policies: ['never', 'append_only', 'resume_if_waiting', 'resume_immediately'],
  };
}
