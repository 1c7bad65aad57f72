import { type Action, type KeyMap, keyMap, resolve } from './key-map.ts';

export type Handlers = Partial<Record<Action, (() => void) | undefined>>;
type Layer = {
  depth: number;
  /** When it was first rendered: what is outside is rendered before what is inside. */
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

/** The innermost and newest layer wins; layers below an open dialog are not asked. */
export function addLayer(layer: Layer): () => void {
  layers.push(layer);
  // Effects run from the inside out, so a screen that returns with something open on it registers after its own
  // parts.
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

/** Fields, and the editor's shadow root, keep their keys to themselves. */
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

/** Enter on a link or a button does what it always does. */
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
  // A key that is held down repeats, and would act on the next delivery, and on the one after it.
  if (event.repeat && result.action !== 'next' && result.action !== 'previous') return;
  handler();
}
