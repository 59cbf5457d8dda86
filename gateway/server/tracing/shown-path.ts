/**
 * A path without a route, as the log may show it: enough to see which address a client was given, and nothing that could be a key or a
 * token.
 */
const SEGMENTS = 6;
/** Longer words are ids or secrets; words of an address are shorter. */
const WORD = /^[A-Za-z][A-Za-z_.-]{0,23}$|^v\d{1,2}(beta)?\d?$/;
const HIDDEN = '…';

export function shownPath(path: string): string {
  const segments = path.slice(1).split('/', SEGMENTS + 1);
  const shown = segments.slice(0, SEGMENTS).map((each) => (each === '' || WORD.test(each) ? each : HIDDEN));
  return `/${shown.join('/')}${segments.length > SEGMENTS ? `/${HIDDEN}` : ''}`;
}
