import { Type } from 'typebox';
import type { Shell } from '../../../http/shell.ts';
import { AckBody, EventBody, ResumeView } from '../schema.ts';

/** What goes over the socket, frame by frame. */
const FRAMES = {
  event: Type.Object({ type: Type.Literal('event'), cursor: Type.String(), event: EventBody }),
  resume: Type.Object({ type: Type.Literal('resume'), resume: ResumeView }),
  error: Type.Object({
    type: Type.Literal('error'),
    event_id: Type.Optional(Type.String()),
    error: Type.String(),
    oldest_cursor: Type.Optional(Type.String()),
  }),
  ack: Type.Object({
    type: Type.Literal('ack'),
    event_id: Type.String(),
    producer_id: Type.Optional(Type.String()),
    ...AckBody.properties,
  }),
};

const message = (name: string, payload: unknown) => ({ name, contentType: 'application/json', payload });
const ref = (path: string) => ({ $ref: `#/${path}` });
const messages = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, ref(`components/messages/${name}`)]));

const CHANNELS = {
  relay: {
    address: '/akep/relay',
    description: 'A WebSocket. Without ?cursor it starts at the oldest event that was not acknowledged.',
    messages: messages('eventFrame', 'resumeFrame', 'errorFrame', 'ackFrame'),
  },
  stream: {
    address: '/akep/events/stream',
    description: 'Server-Sent Events; `id:` is the cursor, Last-Event-ID or ?cursor goes on from there.',
    messages: messages('event', 'resume'),
  },
};

function operation(action: 'send' | 'receive', channel: keyof typeof CHANNELS, ...names: string[]) {
  const used = names.map((name) => ref(`channels/${channel}/messages/${name}`));
  return { action, channel: ref(`channels/${channel}`), messages: used };
}

/** AsyncAPI 3.0 for the live addresses, made from the schemas that everything else is checked against (K23). */
export function asyncApi({ baseUrl, about }: Shell) {
  const { host, protocol } = new URL(baseUrl());
  const secure = protocol === 'https:';
  const security = [ref('components/securitySchemes/key')];
  return {
    asyncapi: '3.0.0',
    info: { title: 'Lanternroom, live', version: about.version, license: { name: 'MIT' } },
    defaultContentType: 'application/json',
    servers: {
      socket: { host, protocol: secure ? 'wss' : 'ws', security },
      http: { host, protocol: secure ? 'https' : 'http', security },
    },
    channels: CHANNELS,
    operations: {
      relayEvents: operation('send', 'relay', 'eventFrame', 'resumeFrame', 'errorFrame'),
      acknowledge: operation('receive', 'relay', 'ackFrame'),
      streamEvents: operation('send', 'stream', 'event', 'resume'),
    },
    components: {
      messages: {
        eventFrame: message('eventFrame', FRAMES.event),
        resumeFrame: message('resumeFrame', FRAMES.resume),
        errorFrame: message('errorFrame', FRAMES.error),
        ackFrame: message('ackFrame', FRAMES.ack),
        event: message('event', EventBody),
        resume: message('resume', ResumeView),
      },
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
    },
  };
}
