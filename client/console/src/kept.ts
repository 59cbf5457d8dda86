/** Values that this tab keeps, so that a reload loses nothing that was typed: any JSON value, by name. */
const PREFIX = 'console.kept.';

export const kept = {
  /** Undefined if nothing is kept. */
  read<T>(name: string): T | undefined {
    try {
      return (JSON.parse(sessionStorage.getItem(PREFIX + name) ?? 'null') as T | null) ?? undefined;
    } catch {
      return undefined;
    }
  },
  /** If the tab's storage is full, nothing more is kept; the page itself loses nothing. */
  keep(name: string, value: unknown): void {
    try {
      sessionStorage.setItem(PREFIX + name, JSON.stringify(value));
    } catch {
      sessionStorage.removeItem(PREFIX + name);
    }
  },
  forget: (name: string): void => sessionStorage.removeItem(PREFIX + name),
  /** Clears all values, so that signing out leaves nothing to the next user. */
  forgetAll(): void {
    for (const place of Object.keys(sessionStorage))
      if (place.startsWith(PREFIX)) sessionStorage.removeItem(place);
  },
};
