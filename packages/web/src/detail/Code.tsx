import { Each } from '../frame/Each.tsx';
import { Scroller } from '../frame/Scroller.tsx';
import { Text } from './Text.tsx';

/** Exact text. Lines of a diff carry their sign and a colour; nothing else is coloured. */
export function Code({ text, language }: { text: string; language?: string | undefined }) {
  const isDiff = language === 'diff' || language === 'patch' || looksLikeDiff(text);
  return (
    <Scroller label={isDiff ? 'Diff' : (language ?? 'Code')} className="code">
      {isDiff ? <DiffLines text={text} /> : <Text>{text}</Text>}
    </Scroller>
  );
}

export function looksLikeDiff(text: string): boolean {
  return /^(diff --git |--- \S+.*\n\+\+\+ |@@ -\d)/m.test(text) && /^[+-]/m.test(text);
}

function DiffLines({ text }: { text: string }) {
  return (
    <Each of={text.split('\n')}>
      {(line) => (
        <span className={lineKind(line)}>
          <Text>{line === '' ? ' ' : line}</Text>
          {'\n'}
        </span>
      )}
    </Each>
  );
}

function lineKind(line: string): string {
  if (/^(\+\+\+|---|diff |index |@@)/.test(line)) return 'line meta';
  if (line.startsWith('+')) return 'line ins';
  if (line.startsWith('-')) return 'line del';
  return 'line';
}
