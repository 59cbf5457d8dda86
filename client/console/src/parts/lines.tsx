/** A conversation, line by line as it arrives; the newest line is kept in view. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Empty } from './basics.js';

export interface Line<Speaker extends string = string> {
  readonly id: string;
  readonly speaker: Speaker;
  readonly text: string;
}

/** The lines with this one added or replaced; a line without words is removed. */
export function withLine<Speaker extends string>(
  lines: readonly Line<Speaker>[],
  line: Line<Speaker>,
): readonly Line<Speaker>[] {
  const known = lines.some(({ id }) => id === line.id);
  if (line.text === '') return lines.filter(({ id }) => id !== line.id);
  return known ? lines.map((old) => (old.id === line.id ? line : old)) : [...lines, line];
}

export function Lines<Speaker extends string>({
  lines,
  speakers,
  label,
  quiet,
}: {
  readonly lines: readonly Line<Speaker>[];
  /** The name shown before each speaker's words. */
  readonly speakers: Readonly<Record<Speaker, string>>;
  readonly label: string;
  /** Text shown while there are no lines. */
  readonly quiet: string;
}) {
  const list = useRef<HTMLOListElement>(null);
  useLayoutEffect(() => {
    list.current?.scrollTo(0, list.current.scrollHeight);
  }, [lines]);
  if (lines.length === 0) return <Empty title={quiet} />;
  return (
    <ol class="lines" ref={list} tabIndex={0} aria-label={label}>
      {lines.map(({ id, speaker, text }) => (
        <li key={id} class={speaker}>
          {speakers[speaker] + text}
        </li>
      ))}
    </ol>
  );
}
