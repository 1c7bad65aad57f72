import { type InputHTMLAttributes, useId } from 'react';

type Props = Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange'> & {
  label: string;
  hint?: string;
  /** In a dialog: the field that takes the focus first. */
  'data-first'?: string | undefined;
  onText: (text: string) => void;
};

export function Field({ label, hint, onText, id: known, ...rest }: Props) {
  const made = useId();
  const id = known ?? made;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="input"
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onText(event.target.value)}
        {...rest}
      />
      {hint !== undefined && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
