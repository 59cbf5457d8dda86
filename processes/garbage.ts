/** Collections of garbage that V8 would not make by itself, or later. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (how?: { readonly type: 'minor' }) => void;

/** V8 shows its collector in a context that is made while this flag is set. */
function collector(): Collect {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return collect;
}

let known: Collect | undefined;
const collect: Collect = (how) => (known ??= collector())(how);

/** Everything: tens of milliseconds. */
export const collectAll = (): void => collect();

/** What was made a moment ago and is not needed any more: a millisecond or two. */
export const collectYoung = (): void => collect({ type: 'minor' });
