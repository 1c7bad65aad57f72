import { useLocation, useNavigate } from '@tanstack/react-router';
import { useKeys } from '../keys/use-keys.ts';
import { leaveField } from './keep-focus.ts';

/** Screens that are reached from another one, with the address of that one. */
const UP: [RegExp, (...parts: string[]) => string][] = [
  [/^\/audit$/, () => '/history'],
  [/^\/(agents|tasks)\/[^/]+$/, (list) => `/${list}`],
  [/^\/events\/([^/]+)\/[^/]+$/, (agent) => `/events?agent=${agent}`],
];

/** Esc leaves a field first; then it leads from one thing to the list that it is in. */
export function useWayUp(): void {
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const up = UP.flatMap(([path, to]) => {
    const found = path.exec(pathname);
    return found === null ? [] : [to(...found.slice(1))];
  })[0];
  useKeys({
    back: up === undefined ? undefined : () => void (leaveField() || navigate({ href: up } as never)),
  });
}
