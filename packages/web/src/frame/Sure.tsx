import { useRef, useState } from 'react';

/** The confirming button takes the place and the focus of the first, so that Enter has to be pressed twice. */
const takeFocus = (button: HTMLButtonElement | null) => button?.focus();

/** A key that is held down repeats, and would confirm its own question. */
function notHeldDown(event: React.KeyboardEvent): void {
  if (event.repeat) event.preventDefault();
}

/** Asks for confirmation before something that cannot be undone, in place, without a dialog. */
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
        // When the question is declined, the focus returns to this button.
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
