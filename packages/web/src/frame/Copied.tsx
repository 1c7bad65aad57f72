import { useState } from 'react';
import { Scroller } from './Scroller.tsx';

/** Exact bytes with a button that copies them. */
export function Copied({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setDone(true);
      setTimeout(() => setDone(false), 2000);
    } catch {
      setDone(false);
    }
  };
  return (
    <div className="copied">
      <Scroller label="To copy" className="code">
        {text}
      </Scroller>
      <button type="button" className="button" onClick={copy}>
        {done ? 'Copied' : label}
      </button>
    </div>
  );
}
