/** The call of a voice scenario: both sides to listen to, and its figures, also compared with another run. */
import { useState } from 'preact/hooks';
import { msText } from '../../format.js';
import { useLoad } from '../../hooks.js';
import { Failure, FigureList, Loading } from '../../parts/basics.js';
import { linkTo } from '../../router.js';
import { texts } from '../../texts.js';
import { readCall } from '../calls/call-api.js';
import { Sound } from '../calls/player.js';
import type { CallFigures } from './test-api.js';

const { tests } = texts;

const medianOf = (values: readonly number[]): number | undefined =>
  [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];

const rowsOf = (call: CallFigures): readonly (readonly [name: string, value: string])[] => [
  [tests.figures.answers, msText(medianOf(call.answers_ms))],
  [tests.figures.silences, msText(medianOf(call.silences_ms))],
  [tests.figures.talkOver, msText(call.talk_over_ms)],
  [tests.figures.interrupted, String(call.interrupted)],
  [tests.figures.unanswered, String(call.unanswered)],
];

function Heard({ session }: { readonly session: string }) {
  const { data, error, reload } = useLoad((signal) => readCall(session, signal), [session]);
  if (!data) return error === undefined ? <Loading /> : <Failure error={error} retry={reload} />;
  return <Sound {...data} />;
}

/** Loaded on demand, since a comparison has many. */
export function CallPart({ call, open }: { readonly call: CallFigures; readonly open: boolean }) {
  const [heard, setHeard] = useState(open);
  return (
    <>
      <FigureList rows={rowsOf(call)} />
      {heard ? (
        <Heard session={call.session_id} />
      ) : (
        <div>
          <button class="button" type="button" onClick={() => setHeard(true)}>
            {tests.hear}
          </button>
        </div>
      )}
      <p>
        <a href={linkTo(['calls', call.session_id])}>{tests.wholeCall}</a>
      </p>
    </>
  );
}

/** The differences between two calls, one line per figure. */
export function changesOf(base: CallFigures | null, other: CallFigures | null): readonly string[] {
  if (!base || !other) return [];
  const others = rowsOf(other);
  return rowsOf(base).flatMap(([name, before], index) => {
    const after = others[index]?.[1] ?? '';
    return after === before ? [] : [tests.figureChanged(name, before, after)];
  });
}
