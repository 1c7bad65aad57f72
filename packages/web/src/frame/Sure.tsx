import { useRef, useState } from 'react';

/** Where the first button was, so that Enter twice is enough and once is not. */
const takeFocus = (button: HTMLButtonElement | null) => button?.focus();

/** A key that is held down presses again and again, and would give its own consent. */
function notHeldDown(event: React.KeyboardEvent): void {
  if (event.repeat) event.preventDefault();
}

/** A second look before something that cannot be taken back; no dialog, no second place. */
export function Sure({ word, question, onSure }: { word: string; question: string; onSure: () => void }) {
  const [asking, setAsking] = useState(false);
  const wasAsked = useRef(false);
  const ask = () => {
    wasAsked.current = true;
    setAsking(true);
  };
  if (!asking)
    return (
      <button
        type="button"
        className="plain"
        // Back from the question, the focus is where it was.
        ref={wasAsked.current ? takeFocus : undefined}
        onKeyDown={notHeldDown}
        onClick={ask}
      >
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
        onKeyDown={notHeldDown}
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
