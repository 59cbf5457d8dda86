/** Where calls to a number of `sip` may come from, as one text in its row: IP addresses and networks with commas between them. */

/** Stands for no addresses beside an account: an empty list would let in everybody, also at a release that knows no accounts. */
const NOWHERE = '0.0.0.0/32';

export const sourcesOf = (stored: string, hasAccount: boolean): readonly string[] =>
  hasAccount && stored === NOWHERE ? [] : stored.split(/,\s*/);

export const storedSources = (sources: readonly string[]): string =>
  sources.length === 0 ? NOWHERE : sources.join(', ');
