/**
 * Saves a value as the user types. Refused changes stay as typed, with their problems; changes that could not be sent are
 * tried again. The tab keeps both, so that neither a reload nor another view loses them.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Problem, Refusal } from '../../api.js';
import { kept } from '../../kept.js';

/** The pause in typing after which changes are sent. */
const PAUSE_MS = 700;
/** Delay before the next try if the gateway could not be reached or has failed. */
const AGAIN_MS = 5000;

export type Saving = 'saved' | 'waiting' | 'saving' | 'failed';

type Parts = Readonly<Record<string, unknown>>;

export interface Saved<Value> {
  readonly value: Value;
  readonly state: Saving;
  readonly error: unknown;
  readonly problems: readonly Problem[];
  readonly edit: (part: string, value: unknown) => void;
  /** Sends all changes at once; resolves to whether everything is saved now. */
  readonly flush: () => Promise<boolean>;
  /** Replaces everything that was typed with a value that is known to be saved. */
  readonly take: (value: Value) => void;
}

const isEmpty = (parts: Parts): boolean => Object.keys(parts).length === 0;

/** Whether the same request may succeed later. */
const passes = (failure: unknown): boolean =>
  failure instanceof Refusal && (failure.status === 0 || failure.status >= 500);

/** Changed parts that are not saved yet, kept in the tab under `name`. */
function useChanged(name: string) {
  const place = `unsaved.${name}`;
  const changed = useRef<Parts | undefined>(undefined);
  const read = (): Parts => (changed.current ??= kept.read<Parts>(place) ?? {});
  const set = (parts: Parts): void => {
    changed.current = parts;
    if (isEmpty(parts)) kept.forget(place);
    else kept.keep(place, parts);
  };
  return {
    read,
    add: (part: string, value: unknown): void => set({ ...read(), [part]: value }),
    /** Removes the saved parts; values typed since then stay unsaved. */
    saved: (parts: Parts): void =>
      set(Object.fromEntries(Object.entries(read()).filter(([part, value]) => value !== parts[part]))),
    forget: (): void => set({}),
  };
}

/** A timer for one task; a new task replaces the old one. */
function useLater() {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const forget = (): void => clearTimeout(timer.current);
  const start = (ms: number, act: () => void): void => {
    forget();
    timer.current = setTimeout(act, ms);
  };
  return { start, forget };
}

function useWarning(unsaved: boolean): void {
  useEffect(() => {
    if (!unsaved) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [unsaved]);
}

/** Sends unsaved changes when the view opens and when it closes; closing the tab with unsaved changes asks first. */
function useLeaving(shown: { current: boolean }, flush: () => Promise<boolean>, unsaved: boolean): void {
  useWarning(unsaved);
  useEffect(() => {
    shown.current = true;
    void flush();
    return () => {
      shown.current = false;
      void flush();
    };
  }, []);
}

interface Progress {
  readonly state: Saving;
  readonly error?: unknown;
}

/** `name` is unique in the workspace. `save` gets the parts changed since the last save, and resolves to the whole value. */
export function useSaved<Value extends Parts>(
  name: string,
  initial: Value,
  save: (parts: Parts) => Promise<Value>,
): Saved<Value> {
  const changed = useChanged(name);
  const later = useLater();
  const shown = useRef(true);
  const sending = useRef<Promise<boolean>>(Promise.resolve(true));
  const [value, setValue] = useState(() => ({ ...initial, ...changed.read() }));
  const [{ state, error }, setProgress] = useState<Progress>({
    state: isEmpty(changed.read()) ? 'saved' : 'waiting',
  });
  const send = async (): Promise<boolean> => {
    const parts = changed.read();
    if (isEmpty(parts)) return true;
    setProgress((before) => ({ ...before, state: 'saving' }));
    try {
      const answer = await save(parts);
      // Typed values stay: they may be newer than the answer, which also lacks secrets.
      const typed = Object.keys(changed.read());
      setValue((now) => ({ ...answer, ...Object.fromEntries(typed.map((part) => [part, now[part]])) }));
      changed.saved(parts);
      setProgress({ state: isEmpty(changed.read()) ? 'saved' : 'waiting' });
      return true;
    } catch (failure) {
      setProgress({ state: 'failed', error: failure });
      if (passes(failure) && shown.current) later.start(AGAIN_MS, () => void flush());
      return false;
    }
  };
  const flush = (): Promise<boolean> => {
    later.forget();
    return (sending.current = sending.current.then(send));
  };
  const edit = (part: string, next: unknown): void => {
    changed.add(part, next);
    setValue((before) => ({ ...before, [part]: next }));
    setProgress((before) => ({ ...before, state: 'waiting' }));
    later.start(PAUSE_MS, () => void flush());
  };
  const take = (known: Value): void => {
    later.forget();
    changed.forget();
    setProgress({ state: 'saved' });
    setValue(known);
  };
  useLeaving(shown, flush, state !== 'saved');
  return { value, state, error, problems: error instanceof Refusal ? error.problems : [], edit, flush, take };
}
