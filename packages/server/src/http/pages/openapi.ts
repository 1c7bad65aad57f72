import type { FastifyInstance, RouteOptions } from 'fastify';
import type { Described, DoorForm, Form, NamedForm } from '../app.ts';
import { ErrorForm } from '../errors.ts';
import type { Shell } from '../shell.ts';
import { madeOnce } from './made-once.ts';

export type Operation = { method: string; path: string; described: Described; door(): DoorForm };

const PLAIN: DoorForm = { refusal: ErrorForm };

/** Sets the shape of refusals for every route that is registered after this. */
export function describeDoor(app: FastifyInstance, door: DoorForm): void {
  app.addHook('onRoute', ({ config }) => {
    if (config !== undefined) config.door = door;
  });
}

/** Collects every route that describes itself, and publishes them as one OpenAPI document. */
export function openApiRoutes(app: FastifyInstance, shell: Shell): readonly Operation[] {
  const operations: Operation[] = [];
  app.addHook('onRoute', (route) => {
    for (const method of [route.method].flat()) {
      if (method === 'HEAD') continue;
      for (const [path, described] of describedAt(route))
        operations.push({
          method: method.toLowerCase(),
          path,
          described,
          // Evaluated later: this hook runs before those of the doors.
          door: () => route.config?.door ?? PLAIN,
        });
    }
  });
  app.route({
    method: 'GET',
    url: '/openapi.json',
    handler: madeOnce(shell, () => document(operations, shell)),
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
  for (const { method, path, described, door } of operations) {
    paths[path] = { ...paths[path], [method]: describe(path, described, door()) };
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

function describe(path: string, config: Described, door: DoorForm) {
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => pathParameter(name ?? ''));
  const parameters = [...named, ...(config.parameters ?? [])];
  return {
    summary: config.summary,
    ...(config.open ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(config.body === undefined
      ? {}
      : { requestBody: { required: config.bodyOptional !== true, content: bodyContent(config, door) } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(config.response ?? {}).map(([status, forms]) => [status, reply(forms, door)]),
      ),
      default: {
        description: 'An error, described in docs/errors.md',
        content: contentOf(door.refusal, door),
      },
    },
  };
}

function bodyContent({ body, bodies = {} }: Described, door: DoorForm): object {
  const others = Object.entries(bodies).map(([type, schema]) => [type, { schema }]);
  return { ...contentOf(body ?? 'bytes', door), ...Object.fromEntries(others) };
}

function pathParameter(name: string) {
  return { name, in: 'path', required: true, schema: { type: 'string' } };
}

function reply(forms: Form | readonly Form[] | null, door: DoorForm) {
  const contents = [forms ?? []].flat().map((form) => contentOf(form, door));
  const content = contents.length === 0 ? {} : { content: Object.assign({}, ...contents) as object };
  return { description: 'As it should be', ...content };
}

const TEXT = { schema: { type: 'string' } };
const OTHERS: Record<NamedForm, object> = {
  stream: { 'text/event-stream': TEXT },
  markdown: { 'text/markdown': TEXT },
  text: { 'text/plain': TEXT },
  bytes: { '*/*': {} },
};

function contentOf(form: Form, { alias }: DoorForm): object {
  if (typeof form === 'string') return OTHERS[form as NamedForm];
  const json = { schema: form };
  return { 'application/json': json, ...(alias === undefined ? {} : { [alias]: json }) };
}
