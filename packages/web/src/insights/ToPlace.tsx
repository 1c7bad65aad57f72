import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Place } from './places.ts';

/** A link to the list behind a number, without reloading the page. */
export function ToPlace({ place: { to, search }, children }: { place: Place; children: ReactNode }) {
  return (
    <Link to={to} search={search as never}>
      {children}
    </Link>
  );
}
