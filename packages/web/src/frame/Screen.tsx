import { type ReactNode, useEffect } from 'react';
import './screen.css';

/** Any screen but the inbox: a title in plain words, and its content. */
export function Screen({
  title,
  lead,
  children,
  isWide = false,
}: {
  title: string;
  lead?: ReactNode;
  children: ReactNode;
  isWide?: boolean;
}) {
  useEffect(() => {
    document.title = `${title} · Lanternroom`;
    return () => {
      document.title = 'Lanternroom';
    };
  }, [title]);
  return (
    <div className="screen" data-wide={isWide || undefined}>
      <header className="screen-header">
        <h1>{title}</h1>
        {lead !== undefined && <p className="said">{lead}</p>}
      </header>
      {children}
    </div>
  );
}
