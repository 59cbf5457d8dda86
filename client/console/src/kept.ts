/** What this tab keeps, so that a reload loses nothing that was typed: any value that JSON has, by a name. */
const PREFIX = 'console.kept.';

export const kept = {
  /** Undefined where nothing is kept. */
  read<T>(name: string): T | undefined {
    try {
      return (JSON.parse(sessionStorage.getItem(PREFIX + name) ?? 'null') as T | null) ?? undefined;
    } catch {
      return undefined;
    }
  },
  /** A tab that is full keeps nothing more; what is on the page stays there. */
  keep(name: string, value: unknown): void {
    try {
      sessionStorage.setItem(PREFIX + name, JSON.stringify(value));
    } catch {
      sessionStorage.removeItem(PREFIX + name);
    }
  },
  forget: (name: string): void => sessionStorage.removeItem(PREFIX + name),
  /** Who signs out leaves nothing to who signs in next. */
  forgetAll(): void {
    for (const place of Object.keys(sessionStorage))
      if (place.startsWith(PREFIX)) sessionStorage.removeItem(place);
  },
};
