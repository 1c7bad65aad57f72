import { calmly } from '../api/refused.ts';

/** What went wrong, in one calm sentence; nothing when nothing did. */
export function Trouble({ of: error }: { of: unknown }) {
  if (error === null || error === undefined || error === '') return null;
  return (
    <p className="said bad" role="alert">
      {typeof error === 'string' ? error : calmly(error)}
    </p>
  );
}
