import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Rate } from './core/rate.ts';

/**
 * Every setting there is: flag, then environment, then the file `lanternroom.json` in the data folder, then the
 * default. The only file that reads the environment. A test keeps docs/configuration.md equal to this list.
 */
export const SETTINGS = [
  { env: 'LANTERNROOM_PORT', flag: 'port', fallback: '8787' },
  { env: 'LANTERNROOM_HOST', flag: 'host', fallback: '127.0.0.1' },
  { env: 'LANTERNROOM_DATA', flag: 'data', fallback: './data' },
  { env: 'DATABASE_URL', flag: 'database-url', secret: true },
  { env: 'LANTERNROOM_URL', flag: 'url' },
  { env: 'LANTERNROOM_TLS_CERT', flag: 'tls-cert' },
  { env: 'LANTERNROOM_TLS_KEY', flag: 'tls-key' },
  { env: 'LANTERNROOM_TRUST_PROXY', flag: 'trust-proxy' },
  { env: 'LANTERNROOM_SECRET', secret: true },
  { env: 'LANTERNROOM_UNDO_SECONDS', fallback: '10' },
  { env: 'LANTERNROOM_RETENTION_DAYS', fallback: '365' },
  { env: 'LANTERNROOM_RATE_TEST', fallback: '20/5' },
  { env: 'LANTERNROOM_RATE_LIVE', fallback: '500/50' },
  { env: 'LANTERNROOM_INIT_HANDLE', flag: 'handle' },
  { env: 'LANTERNROOM_INIT_EMAIL' },
  { env: 'LANTERNROOM_INIT_PASSWORD', secret: true },
  { env: 'LANTERNROOM_INIT_AGENT' },
  { env: 'LANTERNROOM_INIT_AGENT_KEY', secret: true },
  { env: 'LANTERNROOM_INIT_CALLBACKS' },
  { env: 'LANTERNROOM_INIT_CALLBACK_SECRET', secret: true },
  { env: 'LANTERNROOM_SMTP_URL', secret: true },
  { env: 'LANTERNROOM_RATE_PRODUCER', fallback: '3600000/5000' },
  { env: 'AKEP_WEBHOOK_SECRET', secret: true },
  { env: 'LANTERNROOM_LOG', fallback: 'info' },
] as const satisfies readonly Setting[];

export type Setting = { env: string; flag?: string; fallback?: string; secret?: true };
type Name = (typeof SETTINGS)[number]['env'];

export type Config = {
  port: number;
  host: string;
  data: string;
  databaseUrl: string | null;
  url: string | null;
  tlsCert: string | null;
  tlsKey: string | null;
  trustProxy: string[];
  secret: string | null;
  undoSeconds: number;
  retentionDays: number;
  rateTest: Rate;
  rateLive: Rate;
  init: {
    handle: string | null;
    email: string | null;
    password: string | null;
    agent: string | null;
    agentKey: string | null;
    callbacks: string[];
    callbackSecret: string | null;
  };
  smtpUrl: string | null;
  /** Null is no limit. */
  rateProducer: Rate | null;
  webhookSecret: string | null;
  log: LogLevel;
};

const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Lies in the data folder. */
export const SETTINGS_FILE = 'lanternroom.json';

/** Wrong usage: the command ends with 2 and this sentence. */
export class UsageError extends Error {}

export type Sources = { flags: Record<string, string | undefined>; env: Record<string, string | undefined> };

/** The value of every setting, from the first place that has one. */
export function settingsInForce({ flags, env }: Sources): { setting: Setting; value: string | null }[] {
  const file = readFile(dataFolder({ flags, env }));
  return SETTINGS.map((setting: Setting) => {
    const { env: name, flag, secret, fallback } = setting;
    const value =
      (flag === undefined ? undefined : present(flags[flag])) ??
      present(env[name]) ??
      (secret ? fromFile(env[`${name}_FILE`], name) : undefined) ??
      present(inFile(file[name])) ??
      fallback;
    return { setting, value: value ?? null };
  });
}

function dataFolder({ flags, env }: Sources): string {
  return present(flags.data) ?? present(env.LANTERNROOM_DATA) ?? './data';
}

export function readConfig(sources: Sources = { flags: {}, env: process.env }): Config {
  const data = dataFolder(sources);
  const inForce = settingsInForce(sources);
  const get = (name: Name): string | null => inForce.find((s) => s.setting.env === name)?.value ?? null;
  return {
    port: whole('LANTERNROOM_PORT', get('LANTERNROOM_PORT'), 0, 65535),
    host: get('LANTERNROOM_HOST') ?? '127.0.0.1',
    data,
    databaseUrl: databaseUrl(get('DATABASE_URL')),
    url: baseUrl(get('LANTERNROOM_URL')),
    tlsCert: get('LANTERNROOM_TLS_CERT'),
    tlsKey: get('LANTERNROOM_TLS_KEY'),
    trustProxy: list(get('LANTERNROOM_TRUST_PROXY')),
    secret: get('LANTERNROOM_SECRET'),
    undoSeconds: whole('LANTERNROOM_UNDO_SECONDS', get('LANTERNROOM_UNDO_SECONDS'), 0, 3600),
    retentionDays: whole('LANTERNROOM_RETENTION_DAYS', get('LANTERNROOM_RETENTION_DAYS'), 1, 36_500),
    rateTest: rate('LANTERNROOM_RATE_TEST', get('LANTERNROOM_RATE_TEST')),
    rateLive: rate('LANTERNROOM_RATE_LIVE', get('LANTERNROOM_RATE_LIVE')),
    init: {
      handle: get('LANTERNROOM_INIT_HANDLE'),
      email: get('LANTERNROOM_INIT_EMAIL'),
      password: get('LANTERNROOM_INIT_PASSWORD'),
      agent: get('LANTERNROOM_INIT_AGENT'),
      agentKey: get('LANTERNROOM_INIT_AGENT_KEY'),
      callbacks: list(get('LANTERNROOM_INIT_CALLBACKS')),
      callbackSecret: get('LANTERNROOM_INIT_CALLBACK_SECRET'),
    },
    smtpUrl: smtpUrl(get('LANTERNROOM_SMTP_URL')),
    rateProducer: rateOrNone('LANTERNROOM_RATE_PRODUCER', get('LANTERNROOM_RATE_PRODUCER')),
    webhookSecret: get('AKEP_WEBHOOK_SECRET'),
    log: logLevel(get('LANTERNROOM_LOG')),
  };
}

/** An empty value is the same as none: that is how compose files, scripts and CI leave things out. */
function present(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

/**
 * A file that was named on purpose must hold something: an empty one would be a producer whose secret everybody
 * knows, or a new SQLite where a PostgreSQL was meant.
 */
function fromFile(path: string | undefined, name: string): string | undefined {
  if (path === undefined || path === '') return undefined;
  const text = textOf(path, name);
  if (text === '') throw new UsageError(`${name}_FILE names ${path}, which is empty.`);
  return text;
}

function textOf(path: string, name: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    throw new UsageError(`${name}_FILE names ${path}, which cannot be read.`);
  }
}

function inFile(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : String(value);
}

function readFile(data: string): Record<string, unknown> {
  const path = join(data, SETTINGS_FILE);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    if (!existsSync(path)) return {};
    throw new UsageError(`${path} cannot be read. Check its owner and permissions.`);
  }
  const settings = toObject(text);
  if (settings === null)
    throw new UsageError(
      `${path} must be a JSON object of settings, for example {"LANTERNROOM_PORT": 8787}.`,
    );
  if ('LANTERNROOM_DATA' in settings)
    throw new UsageError(`${path} lies in the data folder and cannot choose it: remove LANTERNROOM_DATA.`);
  // A mistyped name would be a setting that does nothing.
  const unknown = Object.keys(settings).find((name) => !SETTINGS.some(({ env }) => env === name));
  if (unknown !== undefined)
    throw new UsageError(
      `${path} names ${unknown}, which is not a setting. "lanternroom config" shows them all.`,
    );
  return settings;
}

function toObject(text: string): Record<string, unknown> | null {
  try {
    // Editors on Windows begin a file with a mark that is no part of it.
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

function whole(name: string, text: string | null, least: number, most: number): number {
  const value = Number(text);
  if (text !== null && /^\d+$/.test(text.trim()) && value >= least && value <= most) return value;
  throw new UsageError(`${name} must be a whole number from ${least} to ${most}, not "${text}".`);
}

function rate(name: string, text: string | null): Rate {
  const m = /^(\d{1,9})\/(\d{1,9})$/.exec(text ?? '');
  const perHour = Number(m?.[1]);
  const burst = Number(m?.[2]);
  if (perHour >= 1 && burst >= 1) return { perHour, burst };
  throw new UsageError(`${name} must be "per hour/burst", for example 500/50, not "${text}".`);
}

function rateOrNone(name: string, text: string | null): Rate | null {
  return text === '0' ? null : rate(name, text);
}

function list(text: string | null): string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function baseUrl(text: string | null): string | null {
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  // Below a path the desk would be an empty page, and a password in the URL would appear in every link.
  if (url === null || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`) {
    throw new UsageError(
      `LANTERNROOM_URL must be an address like https://desk.example.com, a host of its own without a path, not "${text}".`,
    );
  }
  return url.origin;
}

/** The address never shows up in the message: it holds a password. */
function databaseUrl(text: string | null): string | null {
  if (text === null || /^postgres(ql)?:\/\/./.test(text)) return text;
  throw new UsageError(
    'DATABASE_URL must be an address like postgres://user:password@db.example.com/lanternroom.',
  );
}

/** The message never contains the address: it holds a password. */
function smtpUrl(text: string | null): string | null {
  if (text === null) return null;
  if (URL.canParse(text) && /^smtps?:$/.test(new URL(text).protocol)) return text;
  throw new UsageError(
    'LANTERNROOM_SMTP_URL must be an address like smtps://user:password@mail.example.com?from=desk@example.com.',
  );
}

function logLevel(text: string | null): LogLevel {
  const level = LOG_LEVELS.find((l) => l === text);
  if (level === undefined)
    throw new UsageError(`LANTERNROOM_LOG must be one of ${LOG_LEVELS.join(', ')}, not "${text}".`);
  return level;
}
