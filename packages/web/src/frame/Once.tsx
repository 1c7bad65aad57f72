import type { ReactNode } from 'react';
import { Copied } from './Copied.tsx';

type Props = {
  /** The secret, which is shown now and never again. */
  text: string;
  /** Its name on the button that copies it. */
  called: string;
  /** If given, the person can put the secret away. */
  onKept?: () => void;
  children: ReactNode;
};

/** A secret that was just made. */
export function Once({ text, called, onKept, children }: Props) {
  return (
    <div className="once" role="status">
      <p>{children}</p>
      <Copied text={text} label={`Copy the ${called}`} />
      {onKept !== undefined && (
        <p>
          <button type="button" className="button" onClick={onKept}>
            I have kept it
          </button>
        </p>
      )}
    </div>
  );
}
