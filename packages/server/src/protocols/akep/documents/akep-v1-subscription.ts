/**
 * A schema of the AKEP project (github.com/bohui/akep, Apache-2.0), unchanged, as data to validate against.
 * JSON Schema, draft 2020-12.
 */
export const SUBSCRIPTION_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'https://akep.dev/schemas/akep-subscription-v1.schema.json',
  title: 'AKEP Subscription v1',
  type: 'object',
  additionalProperties: false,
  required: ['spec', 'sink', 'event_types', 'delivery'],
  properties: {
    spec: {
      type: 'string',
      pattern: '^akep\\.v1(\\.[0-9]+)?$',
    },
    sink: {
      type: 'string',
      minLength: 1,
      maxLength: 160,
    },
    event_types: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: {
        type: 'string',
        pattern: '^[a-z0-9][a-z0-9_.-]*[a-z0-9]$',
      },
    },
    filters: {
      type: 'object',
      propertyNames: {
        pattern: '^[A-Za-z0-9_]+(\\.[A-Za-z0-9_]+)*$',
      },
      additionalProperties: {
        type: ['string', 'number', 'boolean', 'array', 'null'],
      },
    },
    delivery: {
      type: 'object',
      additionalProperties: false,
      required: ['type'],
      properties: {
        type: {
          type: 'string',
          enum: ['webhook', 'relay', 'sse', 'websocket', 'poll', 'long_poll', 'queue'],
        },
        url: {
          type: 'string',
          format: 'uri',
        },
        queue: {
          type: 'string',
        },
        ack_required: {
          type: 'boolean',
          default: true,
        },
        replay_retention_seconds: {
          type: 'integer',
          minimum: 86400,
          maximum: 2592000,
        },
      },
    },
    security: {
      type: 'object',
      additionalProperties: false,
      properties: {
        accepted_source_names: {
          type: 'array',
          items: {
            type: 'string',
            minLength: 1,
            maxLength: 80,
          },
          uniqueItems: true,
        },
        accepted_producer_ids: {
          type: 'array',
          items: {
            type: 'string',
            minLength: 3,
            maxLength: 128,
            pattern: '^[A-Za-z0-9_:-]+$',
          },
          uniqueItems: true,
        },
        signature_key_ids: {
          type: 'array',
          items: {
            type: 'string',
            minLength: 1,
            maxLength: 128,
          },
          uniqueItems: true,
        },
      },
    },
    capabilities: {
      type: 'object',
      additionalProperties: false,
      properties: {
        resume_policies: {
          type: 'array',
          items: {
            type: 'string',
            enum: ['never', 'append_only', 'resume_if_waiting', 'resume_immediately'],
          },
          uniqueItems: true,
        },
        max_payload_bytes: {
          type: 'integer',
          minimum: 1024,
          maximum: 10485760,
        },
      },
    },
  },
} as const;
