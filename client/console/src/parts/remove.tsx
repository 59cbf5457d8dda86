/** A button that deletes something for good, after asking once more in place. */
import { ask } from '../api.js';
import { texts } from '../texts.js';
import { Sure } from './sure.js';

export const Remove = ({
  path,
  sure,
  done,
}: {
  readonly path: string;
  readonly sure: string;
  readonly done: () => void;
}) => (
  <Sure
    name={texts.remove.ask}
    sure={sure}
    now={texts.remove.now}
    act={async (signal) => {
      await ask(path, { method: 'DELETE', signal });
      done();
    }}
  />
);
