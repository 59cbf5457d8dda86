/** A search box: searches after a pause in typing, and at once with Enter. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Field } from './basics.js';

const PAUSE_MS = 300;

/** `value` is the current search text, such as from the address; the box follows changes made elsewhere. */
export function Search({
  label,
  help,
  value,
  change,
}: {
  readonly label: string;
  readonly help?: string;
  readonly value: string;
  readonly change: (value: string) => void;
}) {
  const [typed, setTyped] = useState(value);
  const taken = useRef(value);
  const pause = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(pause.current), []);
  useEffect(() => {
    if (value !== taken.current) setTyped((taken.current = value));
  }, [value]);
  const take = (text: string): void => {
    clearTimeout(pause.current);
    if (text !== taken.current) change((taken.current = text));
  };
  const hear = (text: string): void => {
    setTyped(text);
    clearTimeout(pause.current);
    pause.current = setTimeout(() => take(text), PAUSE_MS);
  };
  return (
    <Field label={label} {...(help && { help })}>
      {(tied) => (
        <input
          {...tied}
          type="search"
          maxLength={2000}
          value={typed}
          onInput={({ currentTarget }) => hear(currentTarget.value)}
          onChange={({ currentTarget }) => take(currentTarget.value)}
        />
      )}
    </Field>
  );
}
