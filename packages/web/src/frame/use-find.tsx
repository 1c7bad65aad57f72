import { useEffect, useState } from 'react';
import { Field } from '../entry/Field.tsx';

/** Keys come faster than answers. */
const PAUSE_MS = 200;

/**
 * Letters by which a long list is made short, and the field for them. Where one page holds everything there is nothing
 * to find, so the field is there only when `isLong`, or when something was typed.
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
