/** What can stand in for something inside it that is gone. When the screen is gone, too, one has gone elsewhere. */
const PLACES = 'section, form, fieldset, li, article, dialog, .screen';

/**
 * What is pressed is often gone when it has done its work: a line that is removed, a question that is answered. The
 * focus would fall to the top of the page, and whoever has no mouse would have to walk back. It goes to the nearest
 * place around that is still there.
 */
export function keepFocus(): () => void {
  let focused: Element | null = null;
  let around: HTMLElement[] = [];
  const note = (event: FocusEvent) => {
    focused = event.target instanceof Element ? event.target : null;
    around = placesAround(focused);
  };
  const look = () => {
    if (focused === null || focused.isConnected || document.activeElement !== document.body) return;
    focused = null;
    const place = around.find((one) => one.isConnected);
    if (place !== undefined) standIn(place);
  };
  const watch = new MutationObserver(look);
  addEventListener('focusin', note);
  watch.observe(document.body, { childList: true, subtree: true });
  return () => {
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

/** It takes the focus for this once; Tab goes on from there. */
function standIn(place: HTMLElement): void {
  if (!place.hasAttribute('tabindex')) {
    place.tabIndex = -1;
    place.addEventListener('blur', () => place.removeAttribute('tabindex'), { once: true });
  }
  place.focus({ preventScroll: true });
}
