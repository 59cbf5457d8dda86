/** A player for a call: its timeline, controls, and the transcript that follows. */
import { useMemo, useState } from 'preact/hooks';
import { lengthText } from '../../format.js';
import { Failure, Marked } from '../../parts/basics.js';
import { texts } from '../../texts.js';
import { beginningOf, type Call, entriesOf, entryAt, lengthOf, type Recording } from './record.js';
import { type Playing, type Side, usePlaying, useSides } from './sound.js';
import { Timeline } from './timeline.js';
import { Transcript } from './transcript.js';

const { calls, talk } = texts;

const SPEEDS = [0.75, 1, 1.25, 1.5, 2];
const ZOOMS = [1, 2, 4, 8, 16];

const Choice = ({
  label,
  values,
  value,
  choose,
}: {
  readonly label: string;
  readonly values: readonly number[];
  readonly value: number;
  readonly choose: (value: number) => void;
}) => (
  <label class="inline">
    {label}
    <select value={value} onChange={({ currentTarget }) => choose(Number(currentTarget.value))}>
      {values.map((each) => (
        <option key={each} value={each}>
          {calls.times(each)}
        </option>
      ))}
    </select>
  </label>
);

const Legend = () => (
  <ul class="legend">
    {Object.entries(talk.parts).map(([part, name]) => (
      <li key={part}>
        <i class={`part-${part}`} />
        {name}
      </li>
    ))}
    <li>
      <i class="part-cut" />
      {calls.legendCut}
    </li>
  </ul>
);

function Controls({
  playing: { time, playing, toggle, seek, speed, setSpeed },
  length,
  sounds,
  zoom,
  setZoom,
}: {
  readonly playing: Playing;
  readonly length: number;
  readonly sounds: boolean;
  readonly zoom: number;
  readonly setZoom: (zoom: number) => void;
}) {
  return (
    <div class="row">
      <button class="button primary" type="button" disabled={!sounds} onClick={toggle}>
        {playing ? calls.pause : calls.play}
      </button>
      <span class="clock">
        {lengthText(time)} / {lengthText(length)}
      </span>
      <input
        class="grow"
        type="range"
        aria-label={calls.position}
        aria-valuetext={lengthText(time)}
        min={0}
        max={length}
        step={0.1}
        value={time}
        onInput={({ currentTarget }) => seek(Number(currentTarget.value))}
      />
      <Choice label={calls.speed} values={SPEEDS} value={speed} choose={setSpeed} />
      <Choice label={calls.zoom} values={ZOOMS} value={zoom} choose={setZoom} />
    </div>
  );
}

const NO_SIDES: readonly Side[] = [];

const SoundState = ({
  recording,
  loading,
}: {
  readonly recording: Recording | undefined;
  readonly loading: boolean;
}) => {
  if (!recording)
    return (
      <p class="soft">
        <Marked text={calls.noRecording} />
      </p>
    );
  if (recording.error) return <p class="soft">{recording.error}</p>;
  if (recording.status !== 'complete') return <p class="soft">{calls.recording(recording.status)}</p>;
  return loading ? <p class="soft">{calls.loadingSound}</p> : null;
};

const Saving = ({ call, sides }: { readonly call: Call; readonly sides: readonly Side[] }) => (
  <div class="row">
    {sides.map(({ role, address }) => (
      <a key={address} class="button" href={address} download={`${call.session_id}-${role}.ogg`}>
        {calls.saveAudio[role]}
      </a>
    ))}
  </div>
);

type Known = { readonly call: Call; readonly recording: Recording | undefined };

function useSound({ call, recording }: Known, initial = 0) {
  const beginning = beginningOf(call, recording);
  const length = lengthOf(call, recording, beginning);
  const loaded = useSides(recording, beginning);
  const sides = loaded.data ?? NO_SIDES;
  const playing = usePlaying(sides, length, Math.min(initial, length));
  return { call, recording, beginning, length, loaded, sides, playing };
}

/** The timeline of both sides, with controls to play, zoom and save. */
const SoundPanel = ({
  sound: { call, recording, beginning, length, loaded, sides, playing },
}: {
  readonly sound: ReturnType<typeof useSound>;
}) => {
  const [zoom, setZoom] = useState(1);
  return (
    <section class="panel stack tight">
      <Timeline
        turns={call.turns}
        sides={sides}
        beginning={beginning}
        length={length}
        time={playing.time}
        zoom={zoom}
        seek={playing.seek}
      />
      <Controls playing={playing} length={length} sounds={sides.length > 0} zoom={zoom} setZoom={setZoom} />
      <Legend />
      <SoundState recording={recording} loading={loaded.busy} />
      <Failure error={loaded.error} retry={loaded.reload} />
      <Saving call={call} sides={sides} />
    </section>
  );
};

/** Only the sound, if the transcript is shown elsewhere. */
export const Sound = (known: Known) => <SoundPanel sound={useSound(known)} />;

export function Player({ initial, ...known }: Known & { readonly initial: number }) {
  const sound = useSound(known, initial);
  const { beginning, length } = sound;
  const { time, playing, seek } = sound.playing;
  const entries = useMemo(() => entriesOf(known.call, beginning), [known.call, beginning]);
  const current = entryAt(entries, time);
  // Drawn anew when another line is heard, not with every move of the time.
  const transcript = useMemo(
    () => <Transcript entries={entries} current={current} follow={playing} seek={seek} />,
    [entries, current, playing, length],
  );
  return (
    <>
      <SoundPanel sound={sound} />
      <section class="stack tight">
        <h2>{calls.transcript}</h2>
        {entries.length === 0 ? <p class="soft">{calls.nothingSaid}</p> : transcript}
      </section>
    </>
  );
}
