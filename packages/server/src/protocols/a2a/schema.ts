import { Type } from 'typebox';

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

export const UploadedBody = Type.Object({ url: Type.String(), size: Type.Number(), sha256: Type.String() });

export const VERSION_PARAMETER = {
  name: 'A2A-Version',
  in: 'header',
  schema: Type.String({ description: '1.0 or 0.3; left out, it is 0.3 or the dialect of wakeup.sh' }),
};
