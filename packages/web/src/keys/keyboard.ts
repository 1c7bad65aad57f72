import { type Action, type KeyMap, keyMap, resolve } from './key-map.ts';

export type Handlers = Partial<Record<Action, (() => void) | undefined>>;
type Layer = {
  depth: number;
  /** When it was first drawn: what is around something is drawn before it. */
  order: number;
  handlers: () => Handlers;
};

const CHORD_MS = 1200;
const layers: Layer[] = [];
let map: KeyMap = keyMap({});
let off = false;
let pending: string | null = null;
let forget: ReturnType<typeof setTimeout> | undefined;

export const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

const listeners = new Set<() => void>();
export const subscribeKeys = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export function setKeys(own: Readonly<Record<string, string>>, areOff: boolean): void {
  map = keyMap(own);
  off = areOff;
  for (const tell of listeners) tell();
}

export const currentMap = () => map;
export const keysAreOff = () => off;

let drawn = 0;
export const nextOrder = () => ++drawn;

/** The innermost and newest layer wins; a layer below an open dialog is not asked. */
export function addLayer(layer: Layer): () => void {
  layers.push(layer);
  // A screen that comes back with what is open on it is there after its parts: effects run from the inside out.
  layers.sort((one, other) => one.order - other.order);
  return () => void layers.splice(layers.indexOf(layer), 1);
}

function handlerFor(action: Action): (() => void) | undefined {
  const depth = Math.max(0, ...layers.map((layer) => layer.depth));
  for (const layer of layers.toReversed()) {
    const handler = layer.depth === depth ? layer.handlers()[action] : undefined;
    if (handler !== undefined) return handler;
  }
  return undefined;
}

/** Fields, and the shadow root of the editor, keep their keys to themselves. */
function isField(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  if (
    target.isContentEditable ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement
  )
    return true;
  return target instanceof HTMLInputElement && !['checkbox', 'radio', 'button'].includes(target.type);
}

/** Enter and Space on a link or a button do what they always do. */
function isNative(event: KeyboardEvent): boolean {
  const target = event.target;
  return (
    event.key === 'Enter' &&
    !event.ctrlKey &&
    !event.metaKey &&
    target instanceof HTMLElement &&
    target.closest('a, button, summary') !== null
  );
}

export function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || isNative(event)) return;
  if (['Shift', 'Control', 'Meta', 'Alt'].includes(event.key)) return;
  const press = {
    key: event.key,
    mod: isMac ? event.metaKey : event.ctrlKey,
    alt: event.altKey || (isMac ? event.ctrlKey : event.metaKey),
  };
  const result = resolve(map, press, { pending, inField: isField(event), off });
  pending = result.pending;
  clearTimeout(forget);
  if (pending !== null) {
    forget = setTimeout(() => {
      pending = null;
    }, CHORD_MS);
  }
  const handler = result.action === null ? undefined : handlerFor(result.action);
  if (handler === undefined) return;
  event.preventDefault();
  // What a key held down repeats would hit the next thing, and the one after it.
  if (event.repeat && result.action !== 'next' && result.action !== 'previous') return;
  handler();
}
