import type { AnyRouter } from '@tanstack/react-router';
import { linksLeft } from './links-left.ts';

/** What can stand in for something inside it that is gone. When the screen is gone, too, one has gone elsewhere. */
const PLACES = 'section, form, fieldset, li, article, dialog, .screen';

const screen = () => document.getElementById('main');

/** Nobody has put it anywhere: it lies on the page, or on the screen as a whole. */
export function focusIsNowhere(): boolean {
  const active = document.activeElement;
  return active === null || active === document.body || active === screen();
}

/**
 * What is pressed is often gone when it has done its work: a line that is removed, a question that is answered, a link to
 * another screen. The focus would fall out of the page: whoever has no mouse would have to walk back, and could not even
 * scroll, since only the screen does. It goes to the nearest place around that is still there, at the last to the screen.
 */
export function keepFocus(router: AnyRouter): () => void {
  let focused: Element | null = null;
  let around: HTMLElement[] = [];
  const left = linksLeft(router);
  const note = (event: FocusEvent) => {
    if (event.target === screen()) return;
    focused = event.target instanceof Element ? event.target : null;
    around = placesAround(focused);
    left.forget();
  };
  const look = () => {
    if (!focusIsNowhere()) return;
    const link = left.find();
    if (link !== null) return link.focus({ preventScroll: true });
    if (document.activeElement === screen() || focused?.isConnected === true) return;
    focused = null;
    const place = around.find((one) => one.isConnected) ?? screen();
    if (place !== null) standIn(place);
  };
  const watch = new MutationObserver(look);
  addEventListener('focusin', note);
  watch.observe(document.body, { childList: true, subtree: true });
  look();
  return () => {
    left.stop();
    removeEventListener('focusin', note);
    watch.disconnect();
  };
}

function placesAround(element: Element | null): HTMLElement[] {
  const places: HTMLElement[] = [];
  for (let place = element?.parentElement?.closest<HTMLElement>(PLACES); place; ) {
    places.push(place);
    place = place.parentElement?.closest<HTMLElement>(PLACES);
  }
  return places;
}

/** Out of a field, to the part it stands in. False when the focus is in none. */
export function leaveField(): boolean {
  const field = document.activeElement?.closest('input, select, textarea') ?? null;
  const place = placesAround(field)[0] ?? screen();
  if (field === null || place === null) return false;
  standIn(place);
  return true;
}

/** It takes the focus for this once; Tab goes on from there. */
function standIn(place: HTMLElement): void {
  if (!place.hasAttribute('tabindex')) {
    place.tabIndex = -1;
    place.addEventListener('blur', () => place.removeAttribute('tabindex'), { once: true });
  }
  place.focus({ preventScroll: true });
}
