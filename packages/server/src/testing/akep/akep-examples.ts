/** The example events and subscriptions of the AKEP project (github.com/bohui/akep, Apache-2.0), unchanged, for tests. */
export const VALID_EVENT = {
  spec: 'akep.v1',
  event_id: 'evt_conformance_12345678',
  event_type: 'knowledge.acquired',
  occurred_at: '2026-05-19T06:30:00Z',
  source: {
    producer_id: 'prod_conformance_test',
    name: 'test-runner',
    type: 'system',
  },
  subject: {
    task_id: 'task_conformance_01',
  },
  knowledge: {
    kind: 'observation',
    content_type: 'application/json',
    summary: 'Conformance test run successful.',
  },
  routing: {
    resume_policy: 'append_only',
  },
};

export const INVALID_COMMAND = {
  spec: 'akep.v1',
  event_id: 'evt_invalid_command',
  event_type: 'knowledge.acquired',
  occurred_at: '2026-05-19T06:30:00Z',
  source: {
    producer_id: 'prod_conformance_test',
    name: 'test-runner',
    type: 'system',
  },
  subject: {
    task_id: 'task_conformance_01',
  },
  knowledge: {
    kind: 'observation',
    content_type: 'application/json',
    summary: 'This should fail because AKEP events carry knowledge, never commands.',
  },
  routing: {
    resume_policy: 'append_only',
  },
  command: 'rm -rf /',
};

export const SENSE2AI = {
  spec: 'akep.v1',
  event_id: 'evt_sense2ai_01HX5S8ZQ9J6W9E5W4H8A2K7D3',
  event_type: 'knowledge.acquired',
  occurred_at: '2026-05-17T03:00:00Z',
  source: {
    producer_id: 'prod_sense2ai_01',
    name: 'sense2ai',
    type: 'publisher',
    source_event_id: 'submission_sub_456_completed',
  },
  subject: {
    task_id: 'task_123',
    thread_id: 'thread_property_due_diligence_456',
    agent_id: 'agent_local_abc',
  },
  knowledge: {
    kind: 'observation',
    content_type: 'application/json',
    uri: 'https://sense2.ai/artifacts/sub_456',
    summary: 'Defaced inspection video and structured property observation summary are ready.',
    confidence: 0.82,
    expires_at: null,
    content: {
      defaced_video_url: 'https://sense2.ai/artifacts/sub_456/defaced-video.mp4',
      json_summary: {
        overall_condition: 'good',
        visible_risks: ['minor fence wear', 'street noise low'],
        objects: ['front gate', 'driveway', 'street frontage'],
        privacy: 'faces and plates defaced',
      },
    },
  },
  routing: {
    resume_policy: 'resume_if_waiting',
    priority: 'normal',
    interrupt_id: 'int_waiting_for_property_video',
    causation_id: 'evt_sense2ai_task_accepted_456',
    sequence: 7,
  },
  extensions: {
    'ai.akep.workflow_id': 'wf_buyer_991',
  },
  links: {
    self: 'https://sense2.ai/api/akep/events/evt_sense2ai_01HX5S8ZQ9J6W9E5W4H8A2K7D3',
    ack: 'https://sense2.ai/api/akep/events/evt_sense2ai_01HX5S8ZQ9J6W9E5W4H8A2K7D3/ack',
  },
};

export const SUBSCRIPTION = {
  spec: 'akep.v1',
  sink: 'agent.local.property-buyer',
  event_types: ['knowledge.acquired', 'tool.failed', 'human.review_required'],
  filters: {
    'source.name': 'sense2ai',
    'knowledge.kind': ['observation', 'tool_result', 'approval'],
  },
  delivery: {
    type: 'webhook',
    url: 'https://agent.example.com/akep/events',
    ack_required: true,
    replay_retention_seconds: 604800,
  },
  security: {
    accepted_source_names: ['sense2ai'],
    accepted_producer_ids: ['prod_sense2ai_01'],
    signature_key_ids: ['2026-05'],
  },
  capabilities: {
    resume_policies: ['append_only', 'resume_if_waiting'],
    max_payload_bytes: 1048576,
  },
};

export const RELAY_SUBSCRIPTION = {
  spec: 'akep.v1',
  sink: 'agent.local.property-buyer',
  event_types: ['knowledge.acquired', 'tool.failed', 'human.review_required'],
  filters: {
    'source.name': 'sense2ai',
    'subject.agent_id': 'agent_buyer_991',
  },
  delivery: {
    type: 'long_poll',
    url: 'https://relay.akep.dev/akep/events/wait',
    ack_required: true,
    replay_retention_seconds: 604800,
  },
  security: {
    accepted_source_names: ['sense2ai'],
    accepted_producer_ids: ['prod_sense2ai_01'],
    signature_key_ids: ['2026-05'],
  },
  capabilities: {
    resume_policies: ['append_only', 'resume_if_waiting'],
    max_payload_bytes: 1048576,
  },
};
