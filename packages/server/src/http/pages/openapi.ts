import type { FastifyInstance, RouteOptions } from 'fastify';
import type { Described } from '../app.ts';
import type { Shell } from '../shell.ts';

export type Operation = { method: string; path: string; described: Described };

/** Collects every route that describes itself, and publishes them as one OpenAPI document. */
export function openApiRoutes(app: FastifyInstance, shell: Shell): readonly Operation[] {
  const operations: Operation[] = [];
  app.addHook('onRoute', (route) => {
    for (const method of [route.method].flat()) {
      if (method === 'HEAD') continue;
      for (const [path, described] of describedAt(route))
        operations.push({ method: method.toLowerCase(), path, described });
    }
  });
  app.route({
    method: 'GET',
    url: '/openapi.json',
    handler: async () => document(operations, shell),
  });
  return operations;
}

/** Where a route is described, and how. A colon that is written twice in a route is one in an address. */
function describedAt({ url, config }: RouteOptions): [path: string, Described][] {
  const path = url.replace(/::|:(\w+)/g, (_, name?: string) => (name === undefined ? ':' : `{${name}}`));
  const verbs = Object.entries(config?.verbs ?? {});
  return [
    ...(config?.summary === undefined ? [] : [[path, config] as [string, Described]]),
    ...verbs.map(([verb, described]): [string, Described] => [`${path}:${verb}`, described]),
  ];
}

function document(operations: readonly Operation[], { baseUrl, about }: Shell) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { method, path, described } of operations) {
    paths[path] = { ...paths[path], [method]: describe(path, described) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Lanternroom', version: about.version, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: baseUrl() }],
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'An agent key, wk_test_… or wk_live_…' },
      },
    },
  };
}

function describe(path: string, config: Described) {
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => pathParameter(name ?? ''));
  const parameters = [...named, ...(config.parameters ?? [])];
  return {
    summary: config.summary,
    ...(config.open ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(config.body === undefined
      ? {}
      : { requestBody: { required: config.bodyOptional !== true, content: contentOf(config.body) } }),
    responses: {
      ...Object.fromEntries(Object.entries(config.response ?? {}).map(describeReply)),
      default: { description: 'An error, described in docs/errors.md' },
    },
  };
}

function pathParameter(name: string) {
  return { name, in: 'path', required: true, schema: { type: 'string' } };
}

function describeReply([status, schema]: [string, unknown]) {
  const content = schema === null ? {} : { content: contentOf(schema) };
  return [status, { description: 'As it should be', ...content }];
}

const TEXT = { schema: { type: 'string' } };
const OTHERS: Record<string, object> = {
  stream: { 'text/event-stream': TEXT },
  markdown: { 'text/markdown': TEXT },
  bytes: { '*/*': {} },
};

function contentOf(schema: unknown): object {
  return (typeof schema === 'string' ? OTHERS[schema] : undefined) ?? { 'application/json': { schema } };
}
