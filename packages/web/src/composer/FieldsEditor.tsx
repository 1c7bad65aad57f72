import { useId, useState } from 'react';
import { type ExactNumber, isNumber } from '../api/exact-json.ts';
import type { Json } from '../api/types.ts';
import { keyLabel } from '../detail/shape.ts';
import { Text } from '../detail/Text.tsx';
import { inWords } from '../words/numbers.ts';
import { parseNumber, withLeaf } from './json-changes.ts';

type Props = { value: Json; onChange: (value: Json) => void };

/** A field for each leaf, fitting its type: a number stays a number, a yes or no stays a yes or no. */
export function FieldsEditor({ value, onChange }: Props) {
  return (
    <div className="fields">
      <Branch value={value} path={[]} onLeaf={(path, leaf) => onChange(withLeaf(value, path, leaf))} />
    </div>
  );
}

type BranchProps = { value: Json; path: string[]; onLeaf: (path: string[], leaf: Json) => void };

function Branch({ value, path, onLeaf }: BranchProps) {
  const entries = Object.entries(value as Record<string, Json>);
  const label = (key: string) => (Array.isArray(value) ? `${Number(key) + 1}.` : keyLabel(key));
  return entries.map(([key, item]) => {
    const place = [...path, key];
    if (typeof item === 'object' && item !== null && !isNumber(item)) {
      const count = Object.keys(item).length;
      return (
        <details key={key} className="fold" open={path.length === 0 && count <= 12}>
          <summary>
            <Text>{label(key)}</Text>, {inWords(count)} {count === 1 ? 'part' : 'parts'}
          </summary>
          <Branch value={item} path={place} onLeaf={onLeaf} />
        </details>
      );
    }
    return <Leaf key={key} label={label(key)} value={item} onChange={(leaf) => onLeaf(place, leaf)} />;
  });
}

function Leaf({ label, value, onChange }: { label: string; value: Json; onChange: (value: Json) => void }) {
  const id = useId();
  if (value === null)
    return (
      <p className="said">
        <Text>{label}</Text>: nothing. Use “Edit as JSON” to give it a value.
      </p>
    );
  if (typeof value === 'boolean') {
    return (
      <label className="check">
        <input type="checkbox" checked={value} onChange={(event) => onChange(event.target.checked)} />{' '}
        <Text>{label}</Text>
      </label>
    );
  }
  return (
    <div className="field">
      <label htmlFor={id}>
        <Text>{label}</Text>
      </label>
      {isNumber(value) ? (
        <NumberField id={id} value={value} onChange={onChange} />
      ) : (
        <textarea
          id={id}
          className="input agent"
          rows={rowsFor(String(value))}
          value={String(value)}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </div>
  );
}

const rowsFor = (text: string) =>
  Math.min(12, Math.max(1, text.split('\n').length + Math.floor(text.length / 70)));

function NumberField({
  id,
  value,
  onChange,
}: {
  id: string;
  value: number | ExactNumber;
  onChange: (value: number | ExactNumber) => void;
}) {
  const [text, setText] = useState(String(value));
  const isGood = parseNumber(text) !== null;
  return (
    <>
      <input
        id={id}
        className="input mono"
        inputMode="decimal"
        value={text}
        aria-invalid={!isGood}
        onChange={(event) => {
          setText(event.target.value);
          const parsed = parseNumber(event.target.value);
          if (parsed !== null) onChange(parsed);
        }}
      />
      {!isGood && (
        <p className="said bad" role="alert">
          This stays a number. {String(value)} is sent until a number stands here.
        </p>
      )}
    </>
  );
}
