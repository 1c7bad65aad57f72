import { homedir, userInfo } from 'node:os';

/**
 * The user's folder. An empty HOME counts as none: Node would take it literally, and files would land in the working
 * directory.
 */
export function homeOf(env: Readonly<Record<string, string | undefined>>): string {
  return env.HOME?.trim() || homedir() || userInfo().homedir;
}
