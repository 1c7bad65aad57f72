import { type ReactNode, useContext, useEffect, useId, useRef } from 'react';
import { Depth, useKeys } from '../keys/use-keys.ts';

type Props = {
  title: string;
  onClose: () => void;
  children: ReactNode;
  className?: string;
  isFixed?: boolean;
};

/** The browser's own dialog: it traps the focus, makes the rest inert, and gives the focus back when it closes. */
export function Dialog(props: Props) {
  const depth = useContext(Depth);
  return (
    <Depth value={depth + 1}>
      <Inside {...props} />
    </Depth>
  );
}

function Inside({ title, onClose, children, className, isFixed = false }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  const before = useRef<Element | null>(null);
  const pressedBeside = useRef(false);
  useEffect(() => {
    before.current = document.activeElement;
    ref.current?.showModal();
    ref.current?.querySelector<HTMLElement>('[data-first]')?.focus();
    // The element with the focus may be far down, but reading begins at the top.
    ref.current?.scrollTo(0, 0);
    return () => {
      if (before.current instanceof HTMLElement && before.current.isConnected)
        before.current.focus({ preventScroll: true });
    };
  }, []);
  useKeys({ back: isFixed ? () => {} : onClose });
  return (
    <dialog
      ref={ref}
      className={className}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (!isFixed) onClose();
      }}
      // Selecting text and releasing the mouse outside counts as a click on the backdrop too: only a press that began
      // there closes the dialog.
      onPointerDown={(event) => {
        pressedBeside.current = event.target === ref.current;
      }}
      onClick={(event) => {
        if (event.target === ref.current && pressedBeside.current && !isFixed) onClose();
      }}
      onKeyDown={() => {}}
    >
      <div className="inside">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
