import type { Shell } from '../../../http/shell.ts';
import { LIMITS } from '../schema.ts';
import { EVENT_SCHEMA } from './akep-v1.ts';
import { SUBSCRIPTION_SCHEMA } from './akep-v1-subscription.ts';

const PROFILES = ['webhook', 'replay_inbox', 'relay', 'task_state', 'knowledge_publisher'];
const ALGORITHMS = ['v1', 'v1a'];

/** The members of the AKEP project's own discovery document, for clients written against that one. */
function inTheirWords(url: string) {
  return {
    service_name: 'Lanternroom',
    issuer: url,
    delivery_profiles: PROFILES,
    signature_algorithms: ALGORITHMS,
    auth_schemes: ['bearer'],
    event_schema: EVENT_SCHEMA.$id,
    subscription_schema: SUBSCRIPTION_SCHEMA.$id,
  };
}

/** `/.well-known/akep.json`: what is really served (K23). */
export function discovery({ baseUrl }: Shell) {
  const url = baseUrl();
  return {
    spec: 'akep.v1',
    name: 'lanternroom',
    profiles: PROFILES,
    ...inTheirWords(url),
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
      algorithms: ALGORITHMS,
      tolerance_seconds: LIMITS.freshSeconds,
    },
    auth: { ingest: ['standard-webhooks'], inbox: ['bearer'] },
    content_types: ['application/json', 'application/cloudevents+json'],
    limits: { max_payload_bytes: 1_048_576, page: LIMITS.pageMost, wait_seconds: LIMITS.waitMost },
    retention: {
      minimum_unacked_seconds: 604_800,
      unacknowledged_seconds_least: 604_800,
      replay_retention_seconds: { least: 86_400, most: 2_592_000 },
    },
    resume_policies: ['never', 'append_only', 'resume_if_waiting', 'resume_immediately'],
  };
}
