import { useEffect, useRef } from 'react';

/** What became of what was just done. */
export function Said({ children }: { children: string }) {
  return (
    <p className="said" role="status" ref={useInSight<HTMLParagraphElement>(children)}>
      {children}
    </p>
  );
}

/** Words may come to stand below the edge of the window, where nobody who has just pressed a button would read them. */
export function useInSight<T extends Element>(words: string): React.RefObject<T | null> {
  const place = useRef<T>(null);
  useEffect(() => {
    if (words !== '') place.current?.scrollIntoView({ block: 'nearest' });
  }, [words]);
  return place;
}
