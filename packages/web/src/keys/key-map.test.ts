import { describe, expect, it } from 'vitest';
import { clashes, keyMap, keyWords, resolve } from './key-map.ts';

const map = keyMap({});
const press = (key: string, mod = false) => ({ key, mod, alt: false });
const free = { pending: null, inField: false, off: false };

describe('the key map', () => {
  it('resolves single keys', () => {
    expect(resolve(map, press('j'), free).action).toBe('next');
    expect(resolve(map, press('?'), free).action).toBe('help');
    expect(resolve(map, press('q'), free)).toEqual({ action: null, pending: null });
  });

  it('waits for the second half of a chord, and forgets it when another key comes', () => {
    const first = resolve(map, press('g'), free);
    expect(first).toEqual({ action: null, pending: 'g' });
    expect(resolve(map, press('i'), { ...free, pending: 'g' }).action).toBe('go_inbox');
    expect(resolve(map, press('j'), { ...free, pending: 'g' }).action).toBe('next');
  });

  it('is dead inside fields, except for sending, the palette and the way back', () => {
    const field = { ...free, inField: true };
    expect(resolve(map, press('a'), field).action).toBeNull();
    expect(resolve(map, press('g'), field).pending).toBeNull();
    expect(resolve(map, press('Enter', true), field).action).toBe('send');
    expect(resolve(map, press('Escape'), field).action).toBe('back');
  });

  it('can be switched off', () => {
    const off = { ...free, off: true };
    expect(resolve(map, press('r'), off).action).toBeNull();
    expect(resolve(map, press('k', true), off).action).toBe('palette');
  });

  it('leaves the browser its own combinations', () => {
    expect(resolve(map, press('a', true), free).action).toBeNull();
    expect(resolve(map, { key: 'd', mod: false, alt: true }, free).action).toBeNull();
  });

  it('takes other keys, and says which two fight', () => {
    const own = keyMap({ approve: 'y' });
    expect(resolve(own, press('y'), free).action).toBe('approve');
    expect(resolve(own, press('a'), free).action).toBeNull();
    expect(clashes(map)).toEqual([]);
    expect(clashes(keyMap({ approve: 'r' }))).toEqual([['approve', 'reject']]);
    expect(clashes(keyMap({ snooze: 'g' })).length).toBe(5);
  });

  it('has names that the server keeps', () => {
    for (const name of Object.keys(map)) expect(name).toMatch(/^[a-z][a-z0-9_.-]{0,39}$/);
  });

  it('reads as on the keyboard at hand', () => {
    expect(keyWords('Mod+Enter', true)).toBe('⌘Enter');
    expect(keyWords('Mod+Enter', false)).toBe('Ctrl+Enter');
  });
});
