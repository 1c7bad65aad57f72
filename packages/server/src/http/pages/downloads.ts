import { createReadStream, existsSync, readdirSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { Fault } from '../../core/faults.ts';
import { DOWNLOADS, VERSION } from '../package-files.ts';
import type { Shell } from '../shell.ts';

type ByFile = { Params: { file: string } };

/** `/packages`: what an agent's machine installs, without a public registry. No key is needed. */
export function downloadRoutes(app: FastifyInstance, { baseUrl }: Pick<Shell, 'baseUrl'>): void {
  const files = existsSync(DOWNLOADS)
    ? readdirSync(DOWNLOADS).filter((name) => /\.(tgz|whl)$/.test(name))
    : [];

  app.route({
    method: 'GET',
    url: '/packages',
    config: {
      open: true,
      summary: 'How to install the clients, as lines for a shell',
      response: { 200: 'text' },
    },
    handler: async (_, reply) =>
      reply
        .type('text/plain; charset=utf-8')
        .send(Object.values(installLines(baseUrl())).join('\n').concat('\n')),
  });

  app.route<ByFile>({
    method: 'GET',
    url: '/packages/:file',
    config: { open: true, summary: 'A package to install', response: { 200: 'bytes' } },
    handler: async (request, reply) => {
      const { file } = request.params;
      if (!files.includes(file))
        throw new Fault('not_found', 'There is no package with this name; see /packages.');
      return reply
        .headers({ 'content-type': 'application/octet-stream', 'cache-control': 'no-cache' })
        .send(createReadStream(`${DOWNLOADS}${file}`));
    },
  });
}

/** The lines that install each, at the address where this server is reached. */
export function installLines(url: string) {
  const at = (file: string) => `${url}/packages/${file}`;
  return {
    install_lantern: `npm install -g ${at('lantern.tgz')}`,
    install_js: `npm install ${at(`lanternroom-sdk-${VERSION}.tgz`)} ${at(`lanternroom-adapters-${VERSION}.tgz`)}`,
    install_python: `pip install ${at(`lanternroom-${VERSION}-py3-none-any.whl`)}`,
  };
}
