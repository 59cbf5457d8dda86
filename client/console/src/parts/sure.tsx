/** A button that does something that cannot be undone, after asking once more in place. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useAction } from '../hooks.js';
import { texts } from '../texts.js';
import { Failure } from './basics.js';

export function Sure({
  name,
  sure,
  now,
  act,
}: {
  readonly name: string;
  readonly sure: string;
  /** The name of the second button. */
  readonly now: string;
  readonly act: (signal: AbortSignal) => Promise<void>;
}) {
  const [asked, setAsked] = useState(false);
  const action = useAction(act);
  const cancel = useRef<HTMLButtonElement>(null);
  // Enter once more does nothing that cannot be undone.
  useLayoutEffect(() => cancel.current?.focus(), [asked]);
  if (!asked)
    return (
      <div>
        <button class="button danger" type="button" onClick={() => setAsked(true)}>
          {name}
        </button>
      </div>
    );
  return (
    <div class="notice warn stack tight" role="alert">
      <p>{sure}</p>
      <div class="row">
        <button class="button danger" type="button" disabled={action.busy} onClick={() => void action.run()}>
          {now}
        </button>
        <button ref={cancel} class="button" type="button" onClick={() => setAsked(false)}>
          {texts.cancel}
        </button>
      </div>
      <Failure error={action.error} />
    </div>
  );
}
