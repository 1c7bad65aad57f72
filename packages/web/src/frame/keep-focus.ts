import type { AnyRouter } from '@tanstack/react-router';
import { linksLeft } from './links-left.ts';

/**
 * Elements that can take the focus when something inside them is gone. If the screen is gone too, the person has gone
 * elsewhere.
 */
const PLACES = 'section, form, fieldset, li, article, dialog, .screen';

const screen = () => document.getElementById('main');

/** Whether nothing in particular has the focus: it is on the page, or on the screen as a whole. */
export function focusIsNowhere(): boolean {
  const active = document.activeElement;
  return active === null || active === document.body || active === screen();
}

/**
 * What was pressed is often gone afterwards: a line that was removed, a question that was answered, a link to another
 * screen. The focus would fall back to the page: somebody without a mouse would have to tab all the way again, and
 * could not even scroll, since only the screen scrolls. So the focus moves to the nearest element around that is
 * still there, or else to the screen.
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

/** Moves the focus out of a field, to the part of the screen around it. False if the focus is not in a field. */
export function leaveField(): boolean {
  const field = document.activeElement?.closest('input, select, textarea') ?? null;
  const place = placesAround(field)[0] ?? screen();
  if (field === null || place === null) return false;
  standIn(place);
  return true;
}

/** Focuses an element that normally cannot take the focus; Tab continues from there. */
function standIn(place: HTMLElement): void {
  if (!place.hasAttribute('tabindex')) {
    place.tabIndex = -1;
    place.addEventListener('blur', () => place.removeAttribute('tabindex'), { once: true });
  }
  place.focus({ preventScroll: true });
}
