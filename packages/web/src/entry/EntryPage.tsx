import type { ReactNode } from 'react';
import { Mark } from '../frame/Mark.tsx';
import './entry.css';

export function EntryPage({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="entry">
      <div className="entry-inside">
        <p className="wordmark">
          <Mark /> <span>Lanternroom</span>
        </p>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}
