/** Formats of times in time zones, kept: to make one takes 0.1 ms, a hundred times as long as to use it. */

/** Zones are about 600 names; of more spellings than that the kept ones go. */
const MOST_ZONES = 600;

/** How times are written in a zone, by its name. Errors of the result: `RangeError` for a name that is none. */
export function zoneFormats(
  locale: string,
  options: Intl.DateTimeFormatOptions,
): (timeZone: string) => Intl.DateTimeFormat {
  const kept = new Map<string, Intl.DateTimeFormat>();
  return (timeZone) => {
    const known = kept.get(timeZone);
    if (known) return known;
    const made = new Intl.DateTimeFormat(locale, { ...options, timeZone });
    if (kept.size >= MOST_ZONES) kept.clear();
    kept.set(timeZone, made);
    return made;
  };
}
