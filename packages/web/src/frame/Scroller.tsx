import type { ReactNode } from 'react';

type Props = { label: string; className?: string; children: ReactNode };

/** A region that may scroll by itself, with a name, and reachable by keyboard. */
export function Scroller({ label, className = 'wide', children }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable without a pointer
    <section className={className} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
