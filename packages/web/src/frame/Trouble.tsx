import { calmly, isNotThere } from '../api/refused.ts';
import { useInSight } from './Said.tsx';

/** What went wrong, in one calm sentence; renders nothing when there is no error. */
export function Trouble({ of: error }: { of: unknown }) {
  // A string is about what the person has just done, and is scrolled into view. An error object comes from a query,
  // which nobody has just asked for, and moves nothing.
  const place = useInSight<HTMLParagraphElement>(typeof error === 'string' ? error : '');
  if (error === null || error === undefined || error === '') return null;
  return (
    <p className="said bad" role="alert" ref={place}>
      {typeof error === 'string' ? error : calmly(error)}
    </p>
  );
}

type NotHadProps = { of: unknown; missing: string; onAgain: () => unknown };

/**
 * Shown in place of something that could not be loaded: says that it does not exist, or why it failed, with a button
 * to try again.
 */
export function NotHad({ of: error, missing, onAgain }: NotHadProps) {
  if (isNotThere(error)) return <p role="alert">{missing}</p>;
  return (
    <div className="trouble-line">
      <Trouble of={error} />
      <button type="button" className="plain" onClick={() => void onAgain()}>
        Try again
      </button>
    </div>
  );
}
