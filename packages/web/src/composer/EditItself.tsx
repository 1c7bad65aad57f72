import { lazy, Suspense, useState } from 'react';
import { parseExact, stringifyExact } from '../api/exact-json.ts';
import type { Json } from '../api/types.ts';
import { isObject } from '../detail/shape.ts';
import { Trouble } from '../frame/Trouble.tsx';
import { Changes } from './Changes.tsx';
import { FieldsEditor } from './FieldsEditor.tsx';

const Editor = lazy(async () => ({ default: (await import('./Editor.tsx')).Editor }));

type Props = { before: Json; after: Json; onChange: (value: Json) => void; onStop: () => void };

/** The agent's content in the person's own hands, with a live diff below. */
export function EditItself({ before, after, onChange, onStop }: Props) {
  const [asJson, setAsJson] = useState(false);
  const canFields = isObject(before) && isObject(after);
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
