import type { Verdict } from '../api/types.ts';
import { Key } from '../keys/Key.tsx';
import type { Action } from '../keys/key-map.ts';

export const MODES: readonly { verdict: Verdict; word: string; action: Action; ask: string }[] = [
  { verdict: 'approved', word: 'Approve', action: 'approve', ask: 'Anything for next time?' },
  { verdict: 'redirected', word: 'Redirect', action: 'redirect', ask: 'What should be different?' },
  { verdict: 'rejected', word: 'Reject', action: 'reject', ask: 'Why not?' },
];

type Props = {
  mode: Verdict | null;
  onChoose: (mode: Verdict | null) => void;
  onWalk: (mode: Verdict) => void;
};

/**
 * Three verdicts, none chosen at first. The arrow keys move between them; pressing the chosen one again takes the
 * choice back.
 */
export function Modes({ mode, onChoose, onWalk }: Props) {
  const walk = (event: React.KeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = MODES.findIndex(({ verdict }) => verdict === mode);
    const next = (Math.max(at, step === 1 ? -1 : 0) + step + MODES.length) % MODES.length;
    onWalk(MODES[next]?.verdict ?? 'approved');
    (event.currentTarget.children[next] as HTMLElement | undefined)?.focus();
  };
  return (
    <div className="modes" role="radiogroup" aria-label="Your answer" onKeyDown={walk}>
      {MODES.map(({ verdict, word, action }, index) => (
        // biome-ignore lint/a11y/useSemanticElements: a radio that can also be let go of
        <button
          key={verdict}
          type="button"
          role="radio"
          aria-checked={mode === verdict}
          tabIndex={mode === verdict || (mode === null && index === 0) ? 0 : -1}
          className="mode"
          data-verdict={verdict}
          onClick={() => onChoose(mode === verdict ? null : verdict)}
        >
          {word} <Key of={action} />
        </button>
      ))}
    </div>
  );
}
