import type { Preferences } from '../api/types.ts';

const KEY = 'lanternroom.look';
type Look = Pick<Preferences, 'theme' | 'density' | 'size'>;

/** Applies the look to the page, and remembers it so that the next load starts with it. */
export function wear({ theme, density, size }: Look): void {
  const root = document.documentElement;
  set(root, 'theme', theme === 'system' ? null : theme);
  set(root, 'density', density === 'comfortable' ? null : density);
  set(root, 'size', size === 'normal' ? null : size);
  localStorage.setItem(KEY, JSON.stringify({ theme, density, size }));
}

function set(root: HTMLElement, name: string, value: string | null): void {
  if (value === null || value === undefined) delete root.dataset[name];
  else root.dataset[name] = value;
}

export function wearLast(): void {
  try {
    const kept = localStorage.getItem(KEY);
    if (kept !== null) wear(JSON.parse(kept) as Look);
  } catch {}
}
