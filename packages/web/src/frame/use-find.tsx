import { useEffect, useState } from 'react';
import { Field } from '../entry/Field.tsx';

/** Wait for a pause: people type faster than the server answers. */
const PAUSE_MS = 200;

/**
 * Narrows a long list by name, and renders the field for it. A list that fits on one page needs no search, so the
 * field appears only when `isLong`, or when something was typed.
 */
export function useFind(label: string) {
  const [text, setText] = useState('');
  const [asked, setAsked] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const field = (isLong: boolean) =>
    (isLong || text !== '' || asked !== '') && (
      <Field label={label} type="search" value={text} onText={setText} />
    );
  return { asked, field };
}
