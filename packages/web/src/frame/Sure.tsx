import { useState } from 'react';

/** Where the first button was, so that Enter twice is enough and once is not. */
const takeFocus = (button: HTMLButtonElement | null) => button?.focus();

/** A second look before something that cannot be taken back; no dialog, no second place. */
export function Sure({ word, question, onSure }: { word: string; question: string; onSure: () => void }) {
  const [asking, setAsking] = useState(false);
  if (!asking)
    return (
      <button type="button" className="plain" onClick={() => setAsking(true)}>
        {word}
      </button>
    );
  return (
    <span className="sure">
      <span className="said">{question}</span>{' '}
      <button
        type="button"
        className="button danger"
        ref={takeFocus}
        onClick={() => {
          setAsking(false);
          onSure();
        }}
      >
        {word}
      </button>{' '}
      <button type="button" className="plain" onClick={() => setAsking(false)}>
        Leave it
      </button>
    </span>
  );
}
