/** Level meters that update while they are shown, each below its name. */
import { useRef } from 'preact/hooks';
import { useFrames } from '../hooks.js';

export interface Level {
  readonly name: string;
  /** From 0 to 1. */
  readonly read: () => number;
}

function Meter({ name, read }: Level) {
  const meter = useRef<HTMLMeterElement>(null);
  useFrames(true, () => {
    if (meter.current) meter.current.value = read();
  });
  return (
    <label class="meter">
      {name} <meter ref={meter} />
    </label>
  );
}

export const Meters = ({ levels }: { readonly levels: readonly Level[] }) => (
  <div class="fields">
    {levels.map((level) => (
      <Meter key={level.name} {...level} />
    ))}
  </div>
);
