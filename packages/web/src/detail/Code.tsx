import { Each } from '../frame/Each.tsx';
import { Scroller } from '../frame/Scroller.tsx';
import { More, useBeginning } from './More.tsx';
import { Text } from './Text.tsx';

/** Exact text. Lines of a diff have their sign and a colour; nothing else is coloured. */
export function Code({ text, language }: { text: string; language?: string | undefined }) {
  const isDiff = language === 'diff' || language === 'patch' || looksLikeDiff(text);
  // The newline that ends a file begins no line of its own.
  if (isDiff) return <Diff lines={text.replace(/\n$/, '').split('\n')} />;
  return (
    <Scroller label={language ?? 'Code'} className="code">
      <Text>{text}</Text>
    </Scroller>
  );
}

export function looksLikeDiff(text: string): boolean {
  return /^(diff --git |--- \S+.*\n\+\+\+ |@@ -\d)/m.test(text) && /^[+-]/m.test(text);
}

const FIRST_LINES = 1000;

function Diff({ lines }: { lines: readonly string[] }) {
  const { shown, left, more } = useBeginning(lines, FIRST_LINES);
  return (
    <>
      <Scroller label="Diff" className="code">
        <Each of={shown}>
          {(line) => (
            <span className={lineKind(line)}>
              <Text>{line === '' ? ' ' : line}</Text>
              {'\n'}
            </span>
          )}
        </Each>
      </Scroller>
      <More left={left} of="lines" onMore={more} />
    </>
  );
}

function lineKind(line: string): string {
  if (/^(\+\+\+|---|diff |index |@@)/.test(line)) return 'line meta';
  if (line.startsWith('+')) return 'line ins';
  if (line.startsWith('-')) return 'line del';
  return 'line';
}
