import type { ReactNode } from 'react';
import { safeTarget } from './link.ts';

export function SafeLink({ href, children }: { href: string | undefined; children: ReactNode }) {
  const target = safeTarget(href);
  if (target === null) {
    return (
      <span className="dead-link">
        {children} <span className="host">(this link leads nowhere safe)</span>
      </span>
    );
  }
  return (
    <a href={target.href} target="_blank" rel="noopener noreferrer">
      {children}
      <span className="host">{target.host}</span>
    </a>
  );
}
