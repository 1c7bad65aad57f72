import { useState } from 'react';

const KEY = 'lanternroom.list-width';
const LEAST = 340;
const MOST = 520;
const USUAL = 400;
const STEP = 20;

const within = (width: number) => Math.min(MOST, Math.max(LEAST, Math.round(width)));

export function useListWidth(): [number, (width: number) => void] {
  const [width, setWidth] = useState(() => within(Number(localStorage.getItem(KEY) ?? USUAL) || USUAL));
  return [
    width,
    (next) => {
      setWidth(within(next));
      localStorage.setItem(KEY, String(within(next)));
    },
  ];
}

/** Can be dragged, or moved with the arrow keys; its place is remembered. */
export function Divider({ width, onWidth }: { width: number; onWidth: (width: number) => void }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a movable separator has no element of its own
    <div
      className="divider"
      role="separator"
      aria-label="Width of the list"
      aria-orientation="vertical"
      aria-valuenow={width}
      aria-valuemin={LEAST}
      aria-valuemax={MOST}
      tabIndex={0}
      onKeyDown={(event) => {
        if (event.key === 'ArrowLeft') onWidth(width - STEP);
        if (event.key === 'ArrowRight') onWidth(width + STEP);
      }}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => {
        if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
        const left = event.currentTarget.previousElementSibling?.getBoundingClientRect().left ?? 0;
        onWidth(event.clientX - left);
      }}
    />
  );
}
