import { calmly, isNotThere } from '../api/refused.ts';
import { useInSight } from './Said.tsx';

/** What went wrong, in one calm sentence; nothing when nothing did. */
export function Trouble({ of: error }: { of: unknown }) {
  // A sentence is about what was just done; an error about something that was asked for by itself, and moves nothing.
  const place = useInSight<HTMLParagraphElement>(typeof error === 'string' ? error : '');
  if (error === null || error === undefined || error === '') return null;
  return (
    <p className="said bad" role="alert" ref={place}>
      {typeof error === 'string' ? error : calmly(error)}
    </p>
  );
}

type NotHadProps = { of: unknown; missing: string; onAgain: () => unknown };

/** In the place of one thing that could not be had: that there is none, or why, with another try. */
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
