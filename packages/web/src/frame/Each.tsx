import { Children, type ReactNode } from 'react';

/**
 * Items that are identified by their position, such as the lines of a text: they never move, so they need no key of
 * their own.
 */
export function Each<T>({
  of,
  children,
}: {
  of: readonly T[];
  children: (item: T, index: number) => ReactNode;
}) {
  return Children.toArray(of.map(children));
}
