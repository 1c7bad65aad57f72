/** Up to so many lines, the form below them is in sight anyway. */
const FEW = 6;

/** A link down to the form below a list, once the list is long. `field` is the id of the form's first field. */
export function ToForm({ past, field, children }: { past: number; field: string; children: string }) {
  if (past <= FEW) return null;
  return (
    <p>
      <button type="button" className="button" onClick={() => document.getElementById(field)?.focus()}>
        {children}
      </button>
    </p>
  );
}
