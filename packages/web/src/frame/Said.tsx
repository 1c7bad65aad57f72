import { useEffect, useRef } from 'react';

/** The outcome of what the person has just done. */
export function Said({ children }: { children: string }) {
  return (
    <p className="said" role="status" ref={useInSight<HTMLParagraphElement>(children)}>
      {children}
    </p>
  );
}

/**
 * Scrolls the words into view: they may appear below the edge of the window, where somebody who has just pressed a
 * button would miss them.
 */
export function useInSight<T extends Element>(words: string): React.RefObject<T | null> {
  const place = useRef<T>(null);
  useEffect(() => {
    if (words !== '') place.current?.scrollIntoView({ block: 'nearest' });
  }, [words]);
  return place;
}
