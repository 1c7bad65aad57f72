import { type TSchema, Type } from 'typebox';

/** Wire types for /openapi.json; what is read is checked by the mappings, which name the field that is wrong. */
const Open = { additionalProperties: true };

export const CardBody = Type.Object(
  {
    name: Type.String(),
    description: Type.String(),
    version: Type.String(),
    supportedInterfaces: Type.Array(
      Type.Object({ url: Type.String(), protocolBinding: Type.String(), protocolVersion: Type.String() }),
    ),
    capabilities: Type.Object({}, Open),
    skills: Type.Array(Type.Object({ id: Type.String(), name: Type.String() }, Open)),
    defaultInputModes: Type.Array(Type.String()),
    defaultOutputModes: Type.Array(Type.String()),
  },
  Open,
);

export const RpcBody = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Type.Union([Type.String(), Type.Number(), Type.Null()]),
  method: Type.String({
    description: 'message/send, tasks/get, … or with A2A-Version: 1.0 SendMessage, GetTask, …',
  }),
  params: Type.Optional(Type.Object({}, Open)),
});

export const RpcReply = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Type.Union([Type.String(), Type.Number(), Type.Null()]),
  result: Type.Optional(Type.Unknown()),
  error: Type.Optional(
    Type.Object({ code: Type.Number(), message: Type.String(), data: Type.Optional(Type.Unknown()) }),
  ),
});

/** A refusal over HTTP+JSON, in the words of google.rpc. */
export const RestErrorForm = Type.Object({
  error: Type.Object({
    code: Type.Integer(),
    status: Type.String(),
    message: Type.String(),
    details: Type.Array(Type.Object({ '@type': Type.String() }, Open)),
  }),
});

export const JwksBody = Type.Object({ keys: Type.Array(Type.Object({ kty: Type.String() }, Open)) });

export const UploadedBody = Type.Object({ url: Type.String(), size: Type.Number(), sha256: Type.String() });

export const VERSION_PARAMETER = {
  name: 'A2A-Version',
  in: 'header',
  schema: Type.String({ description: '1.0 or 0.3; left out, it is 0.3 or the dialect of wakeup.sh' }),
};

const Part = Type.Object({}, { ...Open, description: 'One of text, data, raw (base64) or url' });

export const MessageBody = Type.Object(
  { messageId: Type.String(), role: Type.String(), parts: Type.Array(Part) },
  Open,
);

const Status = Type.Object(
  { state: Type.String(), timestamp: Type.String(), message: Type.Optional(MessageBody) },
  Open,
);

export const TaskBody = Type.Object(
  {
    id: Type.String(),
    contextId: Type.String(),
    status: Status,
    history: Type.Optional(Type.Array(MessageBody)),
    artifacts: Type.Optional(
      Type.Array(Type.Object({ artifactId: Type.String(), parts: Type.Array(Part) }, Open)),
    ),
  },
  Open,
);

export const SendBody = Type.Object(
  { message: MessageBody, configuration: Type.Optional(Type.Object({}, Open)) },
  Open,
);

export const SendReply = Type.Union([
  Type.Object({ task: TaskBody }, { additionalProperties: false }),
  Type.Object({ message: MessageBody }, { additionalProperties: false }),
]);

export const TaskListBody = Type.Object({
  tasks: Type.Array(TaskBody),
  nextPageToken: Type.String(),
  pageSize: Type.Number(),
  totalSize: Type.Number(),
});

const push = {
  url: Type.String(),
  token: Type.Optional(Type.String()),
  authentication: Type.Optional(
    Type.Object({ scheme: Type.String(), credentials: Type.Optional(Type.String()) }),
  ),
};

export const PushBody = Type.Object({ id: Type.Optional(Type.String()), ...push }, Open);
export const PushReply = Type.Object({ id: Type.String(), taskId: Type.String(), ...push });
export const PushListBody = Type.Object({ configs: Type.Array(PushReply), nextPageToken: Type.String() });

/** Parameters of a query, by what they are. */
function inQuery(numbers: readonly string[], texts: readonly string[] = [], flags: readonly string[] = []) {
  const named = (names: readonly string[], schema: TSchema) =>
    names.map((name) => ({ name, in: 'query', schema }));
  return [...named(numbers, Type.Integer()), ...named(texts, Type.String()), ...named(flags, Type.Boolean())];
}

export const HISTORY = inQuery(['historyLength']);
export const PAGE = inQuery(['pageSize'], ['pageToken']);
export const LIST_QUERY = inQuery(
  ['pageSize', 'historyLength'],
  ['contextId', 'status', 'statusTimestampAfter', 'pageToken'],
  ['includeArtifacts'],
);
