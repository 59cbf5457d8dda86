/** Something that is saved while it is typed. What was refused stays as it was typed, with what is wrong with it. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Problem, Refusal } from '../../api.js';

/** As long as somebody types without a pause, nothing is sent. */
const PAUSE_MS = 700;

export type Saving = 'saved' | 'waiting' | 'saving' | 'failed';

type Parts = Readonly<Record<string, unknown>>;

export interface Saved<Value> {
  readonly value: Value;
  readonly state: Saving;
  readonly error: unknown;
  readonly problems: readonly Problem[];
  readonly edit: (part: string, value: unknown) => void;
  /** Sends what has changed at once; whether all of it is saved now. */
  readonly flush: () => Promise<boolean>;
  /** Takes what is known to be saved. */
  readonly take: (value: Value) => void;
}

/** `save` is given the parts that have changed since the last time, and answers the whole. */
export function useSaved<Value extends Parts>(
  initial: Value,
  save: (parts: Parts) => Promise<Value>,
): Saved<Value> {
  const [value, setValue] = useState(initial);
  const [state, setState] = useState<Saving>('saved');
  const [error, setError] = useState<unknown>();
  const changed = useRef<Parts>({});
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const sending = useRef<Promise<boolean>>(Promise.resolve(true));
  const send = async (): Promise<boolean> => {
    const parts = changed.current;
    if (Object.keys(parts).length === 0) return true;
    changed.current = {};
    setState('saving');
    try {
      const answer = await save(parts);
      setError(undefined);
      // What was typed here stays: it may be newer than the answer, and secrets are not in that.
      const typed = Object.keys({ ...parts, ...changed.current });
      setValue((now) => ({ ...answer, ...Object.fromEntries(typed.map((name) => [name, now[name]])) }));
      setState(Object.keys(changed.current).length > 0 ? 'waiting' : 'saved');
      return true;
    } catch (failure) {
      changed.current = { ...parts, ...changed.current };
      setError(failure);
      setState('failed');
      return false;
    }
  };
  const flush = (): Promise<boolean> => {
    clearTimeout(timer.current);
    return (sending.current = sending.current.then(send));
  };
  const edit = (part: string, next: unknown): void => {
    changed.current = { ...changed.current, [part]: next };
    setValue((before) => ({ ...before, [part]: next }));
    setState('waiting');
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void flush(), PAUSE_MS);
  };
  useEffect(() => () => void flush(), []);
  const problems = error instanceof Refusal ? error.problems : [];
  return { value, state, error, problems, edit, flush, take: setValue };
}
