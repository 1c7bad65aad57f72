import { type ReactNode, useState } from 'react';
import { Field } from '../entry/Field.tsx';
import { Said } from './Said.tsx';
import { Sure } from './Sure.tsx';

type Props = {
  of: readonly string[];
  mayChange: boolean;
  /** The outcome of the last change. */
  said: string;
  words: { add: string; such: string; removed: string };
  /** Gets the whole new list; returns whether the server accepted it. */
  onSet: (addresses: string[], word: string) => Promise<boolean>;
  /** What else can be done with an address. */
  beside?: (address: string) => ReactNode;
};

/** A list of addresses that something may be sent to. */
export function Addresses({ of: addresses, mayChange, said, words, onSet, beside }: Props) {
  const [url, setUrl] = useState('');
  const add = async (event: React.FormEvent) => {
    event.preventDefault();
    if (await onSet([...addresses, url.trim()], 'Allowed.')) setUrl('');
  };
  const remove = (gone: string) =>
    onSet(
      addresses.filter((other) => other !== gone),
      'Removed.',
    );
  return (
    <>
      <ul className="lines">
        {addresses.map((address) => (
          <li key={address}>
            <span className="mono">{address}</span>
            {mayChange && (
              <span className="form-line">
                {beside?.(address)}
                <Sure word="Remove" question={words.removed} onSure={() => void remove(address)} />
              </span>
            )}
          </li>
        ))}
      </ul>
      <Said>{said}</Said>
      {mayChange && (
        <form className="form" onSubmit={add}>
          <Field label={words.add} type="url" placeholder={words.such} value={url} onText={setUrl} required />
          <button type="submit" className="button">
            Allow it
          </button>
        </form>
      )}
    </>
  );
}
