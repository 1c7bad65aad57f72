/** So many lines leave the form below them in sight. */
const FEW = 6;

/** The way down to a form that stands below a list, once the list is long. `field` is the id of where one begins. */
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
