import { Children, type ReactNode } from 'react';

/** Items whose place is their name, such as the lines of a text: they never move, so nobody has to name them. */
export function Each<T>({
  of,
  children,
}: {
  of: readonly T[];
  children: (item: T, index: number) => ReactNode;
}) {
  return Children.toArray(of.map(children));
}
