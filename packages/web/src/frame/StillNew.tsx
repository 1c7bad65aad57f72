import { Key } from '../keys/Key.tsx';
import { useKeys } from '../keys/use-keys.ts';
import { capital, inWords } from '../words/numbers.ts';

type Props = { count: number; what?: string; onTakeIn: () => void };

/** How many rows wait to be shown. They come in at the top of the list, so whoever asks for them is led there. */
export function StillNew({ count, what = 'new', onTakeIn }: Props) {
  const show = () => {
    onTakeIn();
    document.getElementById('main')?.scrollTo(0, 0);
  };
  useKeys({ take_in: count > 0 ? show : undefined });
  return (
    <p role="status" className="still-new">
      {count > 0 && (
        <button type="button" className="plain" onClick={show}>
          {capital(inWords(count))} {what} — show <Key of="take_in" />
        </button>
      )}
    </p>
  );
}
