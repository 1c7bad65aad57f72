import { diffWordsWithSpace } from 'diff';
import { useDeferredValue, useMemo } from 'react';
import { stringifyExact } from '../api/exact-json.ts';
import type { Json } from '../api/types.ts';
import { Text } from '../detail/Text.tsx';
import { Each } from '../frame/Each.tsx';
import { type Change, jsonChanges, typeWarning } from './json-changes.ts';

/** What the person has changed so far. */
export function Changes({ before, after, empty }: { before: Json; after: Json; empty: string }) {
  const late = useDeferredValue(after);
  const changes = useMemo(() => jsonChanges(before, late), [before, late]);
  const warnings = changes.flatMap((change) => typeWarning(change) ?? []);
  return (
    <div className="changes">
      {changes.length === 0 && <p className="said">{empty}</p>}
      {changes.map((change) => (
        <OneChange key={change.path} change={change} />
      ))}
      {warnings.map((warning) => (
        <p key={warning} className="said bad">
          {warning}
        </p>
      ))}
    </div>
  );
}

function OneChange({ change: { path, before, after } }: { change: Change }) {
  return (
    <div className="change">
      {path !== '' && <p className="change-path mono">{path}</p>}
      {typeof before === 'string' && typeof after === 'string' ? (
        <WordDiff before={before} after={after} />
      ) : (
        <p className="mono">
          {before !== undefined && (
            <del>
              <Text>{stringifyExact(before)}</Text>
            </del>
          )}{' '}
          {after !== undefined && (
            <ins>
              <Text>{stringifyExact(after)}</Text>
            </ins>
          )}
        </p>
      )}
    </div>
  );
}

/** Long texts are compared word by word; long stretches that are equal are left out. */
function WordDiff({ before, after }: { before: string; after: string }) {
  const parts = useMemo(() => diffWordsWithSpace(before, after, { timeout: 200 }) ?? [], [before, after]);
  return (
    <p className="word-diff">
      <Each of={parts}>
        {(part, index) => {
          const Mark = part.added ? 'ins' : part.removed ? 'del' : 'span';
          const isSame = Mark === 'span';
          const text = isSame ? shortened(part.value, index === 0, index === parts.length - 1) : part.value;
          return (
            <Mark>
              <Text>{text}</Text>
            </Mark>
          );
        }}
      </Each>
    </p>
  );
}

const AROUND = 90;

function shortened(text: string, isFirst: boolean, isLast: boolean): string {
  if (text.length <= AROUND * 3) return text;
  const head = isFirst ? '' : text.slice(0, AROUND);
  const tail = isLast ? '' : text.slice(-AROUND);
  return `${head} … ${tail}`;
}
