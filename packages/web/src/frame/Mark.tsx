/** The lighthouse, drawn for this desk. */
export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 64 64" aria-hidden="true" focusable="false">
      <g fill="none" stroke="currentColor" strokeWidth="3.5" strokeLinejoin="round" strokeLinecap="round">
        <path d="M21 24 32 13l11 11M24 24v13h16V24M19 37h26M25 37l-3 18h20l-3-18" />
        <path d="m6 25 9 3M6 38l9-3M58 25l-9 3M58 38l-9-3" opacity="0.6" />
      </g>
      <circle cx="32" cy="30" r="3.5" fill="currentColor" />
    </svg>
  );
}
