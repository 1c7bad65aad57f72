import { useEffect, useState } from 'react';

const MOST = 400;

/** The text that the person has selected in what the agent wrote, so that they can quote it in a note. */
export function useQuotable(): string | null {
  const [quote, setQuote] = useState<string | null>(null);
  useEffect(() => {
    const look = () => {
      const selection = document.getSelection();
      const node = selection?.anchorNode;
      const element = node instanceof Element ? node : node?.parentElement;
      const text = selection?.toString().trim() ?? '';
      // Selecting text elsewhere, such as in the note field, must not take the offer away while it is being used.
      if (text === '') return setQuote(null);
      if (element?.closest('[data-quotable]')) setQuote(text.slice(0, MOST));
    };
    document.addEventListener('selectionchange', look);
    return () => document.removeEventListener('selectionchange', look);
  }, []);
  return quote;
}
