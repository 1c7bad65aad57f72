import type { FastifyInstance, RouteOptions } from 'fastify';
import type { Shell } from './shell.ts';

export type Operation = { method: string; path: string; route: RouteOptions };

/** Collects every route that describes itself, and publishes them as one OpenAPI document. */
export function openApiRoutes(app: FastifyInstance, shell: Shell): readonly Operation[] {
  const operations: Operation[] = [];
  app.addHook('onRoute', (route) => {
    if (route.config?.summary === undefined) return;
    const path = route.url.replace(/:(\w+)/g, '{$1}');
    for (const method of [route.method].flat()) {
      if (method !== 'HEAD') operations.push({ method: method.toLowerCase(), path, route });
    }
  });
  app.get('/openapi.json', async () => document(operations, shell));
  return operations;
}

function document(operations: readonly Operation[], { baseUrl, about }: Shell) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { method, path, route } of operations) {
    paths[path] = { ...paths[path], [method]: describe(path, route) };
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

function describe(path: string, { config }: RouteOptions) {
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => pathParameter(name ?? ''));
  const parameters = [...named, ...(config?.parameters ?? [])];
  return {
    summary: config?.summary,
    ...(config?.open ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(config?.body === undefined ? {} : { requestBody: { required: true, content: json(config.body) } }),
    responses: {
      ...Object.fromEntries(Object.entries(config?.response ?? {}).map(describeReply)),
      default: { description: 'An error, described in docs/errors.md' },
    },
  };
}

function pathParameter(name: string) {
  return { name, in: 'path', required: true, schema: { type: 'string' } };
}

function describeReply([status, schema]: [string, unknown]) {
  const content = schema === null ? {} : { content: json(schema) };
  return [status, { description: 'As it should be', ...content }];
}

function json(schema: unknown) {
  return { 'application/json': { schema } };
}
