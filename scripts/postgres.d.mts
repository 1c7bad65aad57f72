export type Postgres = {
  readonly folder: string;
  readonly port: number;
  readonly pid: number;
  url(database?: string): string;
  start(): Promise<void>;
  halt(mode?: 'fast' | 'immediate' | 'smart'): Promise<void>;
  stop(): Promise<void>;
  standby(): Promise<Postgres>;
  promote(): Promise<void>;
};

export function startPostgres(options?: {
  durable?: boolean;
  settings?: Record<string, string>;
}): Promise<Postgres>;
