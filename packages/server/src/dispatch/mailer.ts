import { createTransport } from 'nodemailer';
import { isLoopbackHost } from '../core/agents/allowlist.ts';

export type Letter = { id: string; to: string; subject: string; text: string };

/** `status` is the server's reply code, null when there was none. */
export type Mailed = { status: number | null; durationMs: number };

const PATIENCE_MS = 20_000;

/** E-mail through the operator's own server, the one other way out. Nothing but plain text leaves. */
export class Mailer {
  readonly #transport: ReturnType<typeof createTransport>;
  readonly #from: string;

  constructor(address: string) {
    const url = new URL(address);
    const { hostname } = url;
    this.#from = url.searchParams.get('from') ?? `lanternroom@${hostname}`;
    const secure = url.protocol === 'smtps:';
    this.#transport = createTransport({
      host: hostname,
      port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
      secure,
      // A password never crosses a network in the clear.
      requireTLS: !secure && !isLoopbackHost(hostname),
      ...(url.username === ''
        ? {}
        : { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } }),
      connectionTimeout: PATIENCE_MS,
      greetingTimeout: PATIENCE_MS,
      socketTimeout: PATIENCE_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  /** Never rejects for anything a mail server can do. */
  async send({ id, to, subject, text }: Letter): Promise<Mailed> {
    const startedAt = performance.now();
    const done = (status: number | null): Mailed => ({ status, durationMs: performance.now() - startedAt });
    try {
      // As an object, so that a comma in the address cannot name a second reader.
      const mail = { from: this.#from, to: { name: '', address: to }, subject, text };
      await this.#transport.sendMail({ ...mail, messageId: `<${id}@lanternroom>` });
      return done(250);
    } catch (problem) {
      const code = problem instanceof Error && 'responseCode' in problem ? problem.responseCode : null;
      return done(typeof code === 'number' ? code : null);
    }
  }

  stop(): void {
    this.#transport.close();
  }
}
