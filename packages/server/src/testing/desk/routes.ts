import type { Route } from '../../http/addresses.ts';
import type { World } from '../world.ts';

/** Every address of the desk that is served, as `GET /desk/deliveries/:id`. */
export function deskRoutes(world: World): Route[] {
  return world.running.routes.filter(
    ({ method, url }) => url.startsWith('/desk') && method !== 'HEAD' && method !== 'OPTIONS',
  );
}

/** The address with something in the place of each parameter. */
export function fill(url: string, value: (name: string) => string): string {
  return url.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(value(name)));
}

export function changesSomething({ method }: Route): boolean {
  return method !== 'GET';
}
