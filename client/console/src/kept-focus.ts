/**
 * Keeps the keyboard's place in a part of the page: where a control goes that had the focus, what stands in its place gets it; where one
 * is disabled for a while, it gets it back. Whoever clicks elsewhere has left it.
 */

const CONTROLS = 'a[href], button:not(:disabled), summary';

/** Whether the focus went with what had it. */
const isLost = (held: HTMLElement): boolean =>
  document.activeElement === document.body ||
  document.activeElement === null ||
  document.activeElement === held;

/** Where a removed node was: what stands there now, or what surrounds it. */
function placeOf({ target, previousSibling, nextSibling }: MutationRecord): Element | undefined {
  const parent = target as Element;
  const here = previousSibling ? previousSibling.nextSibling : parent.firstChild;
  return [here, nextSibling, parent].find((node) => node instanceof Element && node.isConnected) as
    | Element
    | undefined;
}

/** Text fields are left alone: a telephone would show its keyboard. */
function enter(place: Element, root: HTMLElement): void {
  if (place.parentElement === root || place === root) return root.focus();
  const control = place.matches(CONTROLS) ? place : place.querySelector(CONTROLS);
  (control instanceof HTMLElement ? control : root).focus();
}

/** Calling what it returns ends it. `root` can have the focus itself. */
export function keepFocus(root: HTMLElement): () => void {
  let held: HTMLElement | undefined;
  const note = ({ target }: FocusEvent) =>
    (held = target instanceof HTMLElement && target !== root && root.contains(target) ? target : undefined);
  const leave = () => (held = undefined);
  const look = (records: readonly MutationRecord[]) => {
    const from = held;
    if (!from || !isLost(from)) return;
    if (from.isConnected) return from.matches(':disabled') ? undefined : from.focus();
    held = undefined;
    const gone = records.findLast(
      ({ target, removedNodes }) =>
        target.isConnected && [...removedNodes].some((node) => node.contains(from)),
    );
    enter((gone && placeOf(gone)) ?? root, root);
  };
  const watching = new MutationObserver(look);
  watching.observe(root, { childList: true, subtree: true, attributes: true, attributeFilter: ['disabled'] });
  document.addEventListener('focusin', note);
  document.addEventListener('pointerdown', leave, { capture: true });
  return () => {
    watching.disconnect();
    document.removeEventListener('focusin', note);
    document.removeEventListener('pointerdown', leave, { capture: true });
  };
}
