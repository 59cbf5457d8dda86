/** Hooks that views share: load, act, remember. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ask, isAbort } from './api.js';
import { kept } from './kept.js';

export interface Loaded<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly busy: boolean;
  readonly reload: () => void;
}

/** Loads again whenever `on` changes, and cancels the earlier load. The old data stay until new ones have arrived. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, on: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<{ data?: T; error?: unknown; busy: boolean }>({ busy: true });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    setState(({ data }) => ({ ...(data !== undefined && { data }), busy: true }));
    load(abort.signal).then(
      (data) => !abort.signal.aborted && setState({ data, busy: false }),
      (error: unknown) => {
        if (!abort.signal.aborted)
          setState(({ data }) => ({ ...(data !== undefined && { data }), error, busy: false }));
      },
    );
    return () => abort.abort();
  }, [...on, round]);
  const reload = useCallback(() => setRound((count) => count + 1), []);
  return { data: state.data, error: state.error, busy: state.busy, reload };
}

type ListPage = Readonly<Record<string, unknown>> & {
  readonly next_cursor: string | null;
  readonly total?: number | null;
};

interface Known<Row> {
  readonly path: string;
  readonly rows: readonly Row[];
  readonly pages: number;
  /** Null at the end. */
  readonly next: string | null;
  /** How many there are in all; null if the list was not asked for it. */
  readonly total: number | null;
}

async function withNextPage<Row>(
  { path, rows, pages }: Known<Row>,
  cursor: string,
  plural: string,
  signal: AbortSignal,
): Promise<Known<Row>> {
  const page = await ask<ListPage>(`${path}&cursor=${encodeURIComponent(cursor)}`, { signal });
  const next = page[plural] as readonly Row[];
  return {
    path,
    rows: [...rows, ...next],
    pages: pages + 1,
    next: page.next_cursor,
    total: page.total ?? null,
  };
}

/** The number of pages shown of a list, if it is kept outside of the view, such as in the address. */
export interface ShownPages {
  readonly pages: number;
  readonly show: (pages: number) => void;
}

function useShownPages(path: string): ShownPages {
  const [shown, setShown] = useState({ path, pages: 1 });
  return {
    pages: shown.path === path ? shown.pages : 1,
    show: (pages) => setShown({ path, pages }),
  };
}

/**
 * A list in pages: the rows so far, and a function to load more if there are any. A new path or a reload loads from the
 * first page on, since a change may be on any page.
 */
export function usePages<Row>(path: string, plural: string, kept?: ShownPages) {
  const own = useShownPages(path);
  const { pages, show } = kept ?? own;
  const known = useRef<Known<Row> | undefined>(undefined);
  const { data, error, busy, reload } = useLoad(
    async (signal) => {
      let list: Known<Row> =
        known.current?.path === path && known.current.pages < pages
          ? known.current
          : { path, rows: [], pages: 0, next: '', total: null };
      while (list.next !== null && list.pages < pages)
        known.current = list = await withNextPage(list, list.next, plural, signal);
      return list;
    },
    [path, pages],
  );
  const more = data && data.next !== null ? () => show(pages + 1) : undefined;
  const anew = () => {
    known.current = undefined;
    show(1);
    reload();
  };
  /** Loads the pages that are shown once more, without leaving them. */
  const refresh = () => {
    known.current = undefined;
    reload();
  };
  return { rows: data?.rows, total: data?.total ?? null, error, busy, reload: anew, refresh, more };
}

export interface Action<Args extends unknown[]> {
  readonly run: (...args: Args) => Promise<void>;
  readonly cancel: () => void;
  readonly busy: boolean;
  readonly error: unknown;
}

/** An action that the user starts and may cancel; one at a time, and cancelled with the view. */
export function useAction<Args extends unknown[]>(
  act: (signal: AbortSignal, ...args: Args) => Promise<void>,
): Action<Args> {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const current = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => current.current?.abort(), []);
  const run = async (...args: Args): Promise<void> => {
    current.current?.abort();
    const abort = (current.current = new AbortController());
    setError(undefined);
    setBusy(true);
    try {
      await act(abort.signal, ...args);
    } catch (failure) {
      if (!abort.signal.aborted && !isAbort(failure)) setError(failure);
    } finally {
      if (current.current === abort) setBusy(false);
    }
  };
  const cancel = () => {
    current.current?.abort();
    setBusy(false);
  };
  return { run, cancel, busy, error };
}

/** Handler for a form's submit event: runs the action instead of the browser's own. */
export const submitting =
  (action: Action<[]>) =>
  (event: Event): void => {
    event.preventDefault();
    void action.run();
  };

/** A value that survives a reload of the tab. */
export function useKept<T>(name: string, initial: T): [T, (value: T) => void] {
  const [value, setValue] = useState<T>(() => kept.read<T>(name) ?? initial);
  const keep = (next: T): void => {
    setValue(next);
    kept.keep(name, next);
  };
  return [value, keep];
}

/** Between two frames: what moves here is a level or a place in a sound, and a whole view may be drawn for it. */
const FRAME_MS = 40;

/** Calls back on frames while `active` and the page can be seen. */
export function useFrames(active: boolean, frame: () => void): void {
  const latest = useRef(frame);
  latest.current = frame;
  useEffect(() => {
    if (!active) return;
    let timer: ReturnType<typeof setTimeout>;
    let id = requestAnimationFrame(function next() {
      latest.current();
      timer = setTimeout(() => (id = requestAnimationFrame(next)), FRAME_MS);
    });
    return () => {
      clearTimeout(timer);
      cancelAnimationFrame(id);
    };
  }, [active]);
}
