/** The view and its state, kept entirely in the address after `#`, so that a shared link shows the same to others. */
import { useEffect, useState } from 'preact/hooks';

export interface Address {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

type Query = Readonly<Record<string, string | number | undefined>>;

const CHANGED = 'addresschange';

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

export function readAddress(hash: string): Address {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  return { path: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

/** Leaves out values that are undefined or empty. */
export function linkTo(path: readonly string[], query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${search && `?${search}`}`;
}

export const go = (path: readonly string[], query?: Query): void => {
  location.hash = linkTo(path, query);
};

/** Changes the state of this view without a new entry in the browser's history. */
export function setQuery(changes: Query): void {
  const { path, query } = readAddress(location.hash);
  history.replaceState(history.state, '', linkTo(path, { ...Object.fromEntries(query), ...changes }));
  dispatchEvent(new Event(CHANGED));
}

export function useAddress(): Address {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const look = () => setHash(location.hash);
    for (const name of ['hashchange', CHANGED]) addEventListener(name, look);
    return () => {
      for (const name of ['hashchange', CHANGED]) removeEventListener(name, look);
    };
  }, []);
  return readAddress(hash);
}
