import { homedir, userInfo } from 'node:os';

/** The user's folder. An empty HOME is none: Node takes it at its word, and files would land wherever one stands. */
export function homeOf(env: Readonly<Record<string, string | undefined>>): string {
  return env.HOME?.trim() || homedir() || userInfo().homedir;
}
