import { type ComponentType, lazy, Suspense, useMemo, useState } from 'react';
import { parseExact, stringifyExact } from '../api/exact-json.ts';
import type { Json } from '../api/types.ts';
import { isObject } from '../detail/shape.ts';
import { Trouble } from '../frame/Trouble.tsx';
import { Changes } from './Changes.tsx';
import { FieldsEditor } from './FieldsEditor.tsx';

type EditorProps = {
  language: 'markdown' | 'json';
  label: string;
  text: string;
  onText: (text: string) => void;
};

const Editor = lazy<ComponentType<EditorProps>>(() =>
  import('./Editor.tsx').then(
    ({ Editor }) => ({ default: Editor }),
    () => ({ default: PlainEditor }),
  ),
);

/** Used when the editor cannot be loaded: a plain field is enough to write in. */
function PlainEditor({ label, text, onText }: EditorProps) {
  return (
    <textarea
      className="input mono"
      rows={12}
      aria-label={label}
      defaultValue={text}
      onChange={(event) => onText(event.target.value)}
    />
  );
}

/** Up to so many leaves, each gets a field of its own. */
const MOST_LEAVES = 400;

function leaves(value: Json): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + leaves(item), 0);
  return isObject(value) ? Object.values(value).reduce<number>((sum, item) => sum + leaves(item), 0) : 1;
}

type Props = { before: Json; after: Json; onChange: (value: Json) => void; onStop: () => void };

/** The agent's content for the person to edit, with a live diff below. */
export function EditItself({ before, after, onChange, onStop }: Props) {
  const [asJson, setAsJson] = useState(false);
  const isSmall = useMemo(() => leaves(before) <= MOST_LEAVES, [before]);
  const canFields = isObject(before) && isObject(after) && isSmall;
  return (
    <section className="edit" aria-label="Edit it myself">
      <div className="edit-line">
        {canFields && (
          <button type="button" className="plain" onClick={() => setAsJson(!asJson)}>
            {asJson ? 'Edit as fields' : 'Edit as JSON'}
          </button>
        )}
        <button type="button" className="plain" onClick={onStop}>
          Leave it as it was
        </button>
      </div>
      {typeof before === 'string' || before === null ? (
        <Suspense fallback={<p className="said">Loading the editor…</p>}>
          <Editor
            language="markdown"
            label="The text, to be changed"
            text={typeof after === 'string' ? after : ''}
            onText={onChange}
          />
        </Suspense>
      ) : asJson || !canFields ? (
        <JsonEditor value={after} onChange={onChange} />
      ) : (
        <FieldsEditor value={after} onChange={onChange} />
      )}
      <h3 className="said">What you changed</h3>
      <Changes before={before} after={after} empty="Nothing yet." />
    </section>
  );
}

function JsonEditor({ value, onChange }: { value: Json; onChange: (value: Json) => void }) {
  const [start] = useState(() => stringifyExact(value, 2));
  const [problem, setProblem] = useState('');
  const take = (text: string) => {
    try {
      const parsed = parseExact<Json>(text);
      if (!isObject(parsed)) return setProblem('It must stay an object: { … }.');
      setProblem('');
      onChange(parsed);
    } catch {
      setProblem('This is not JSON yet. The last version that was is the one that would be sent.');
    }
  };
  return (
    <>
      <Suspense fallback={<p className="said">Loading the editor…</p>}>
        <Editor language="json" label="The content as JSON, to be changed" text={start} onText={take} />
      </Suspense>
      <Trouble of={problem} />
    </>
  );
}
