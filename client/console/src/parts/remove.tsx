/** A button that deletes something for good, after asking once more in place. */
import { useState } from 'preact/hooks';
import { ask } from '../api.js';
import { useAction } from '../hooks.js';
import { texts } from '../texts.js';
import { Failure } from './basics.js';

export function Remove({
  path,
  sure,
  done,
}: {
  readonly path: string;
  readonly sure: string;
  readonly done: () => void;
}) {
  const [asked, setAsked] = useState(false);
  const removal = useAction(async (signal) => {
    await ask(path, { method: 'DELETE', signal });
    done();
  });
  if (!asked)
    return (
      <div>
        <button class="button danger" type="button" onClick={() => setAsked(true)}>
          {texts.remove.ask}
        </button>
      </div>
    );
  return (
    <div class="notice warn stack tight" role="alert">
      <p>{sure}</p>
      <div class="row">
        <button
          class="button danger"
          type="button"
          disabled={removal.busy}
          onClick={() => void removal.run()}
        >
          {texts.remove.now}
        </button>
        <button class="button" type="button" onClick={() => setAsked(false)}>
          {texts.cancel}
        </button>
      </div>
      <Failure error={removal.error} />
    </div>
  );
}
