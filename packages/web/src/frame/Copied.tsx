import { useRef, useState } from 'react';
import { isMac } from '../keys/keyboard.ts';
import { Scroller } from './Scroller.tsx';

type Props = {
  text: string;
  label?: string;
  /** Whether it is so long that a button below it would be out of sight. */
  isLong?: boolean;
  /** Whether copying is what the person does next. */
  isNext?: boolean;
};

/** Exact bytes with a button that copies them. */
export function Copied({ text, label = 'Copy', isLong = false, isNext = false }: Props) {
  const [said, setSaid] = useState('');
  const place = useRef<HTMLDivElement>(null);
  const copy = async () => {
    const done = (await copyText(text)) || copyMarked(place.current?.querySelector('.code') ?? null);
    setSaid(done ? 'Copied' : `Marked: ${isMac ? '⌘' : 'Ctrl+'}C copies it`);
    setTimeout(() => setSaid(''), done ? 2000 : 8000);
  };
  const button = (
    <button type="button" className={isNext ? 'button strong' : 'button'} onClick={copy}>
      {said === '' ? label : said}
    </button>
  );
  return (
    <div className="copied" ref={place}>
      {isLong && button}
      <Scroller label={label.replace(/^Copy/, 'To copy:')} className="code">
        {text}
      </Scroller>
      {!isLong && button}
    </div>
  );
}

/** Browsers offer the clipboard only to pages with https, and many desks run in a local network without it. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** The old way of copying, which works without https; where it fails, the text is at least selected. */
function copyMarked(element: Element | null): boolean {
  if (element === null) return false;
  getSelection()?.selectAllChildren(element);
  return document.execCommand('copy');
}
