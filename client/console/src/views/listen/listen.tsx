/** Speech to text: a file or the microphone, its words with their times, subtitles. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { upload } from '../../api.js';
import { bytesText, lengthText } from '../../format.js';
import { useAction, useFrames } from '../../hooks.js';
import { Failure, Page } from '../../parts/basics.js';
import { Copy } from '../../parts/copy.js';
import { Elapsed } from '../../parts/elapsed.js';
import { FileButton } from '../../parts/file-button.js';
import { LanguageField } from '../../parts/language-field.js';
import { useAddress } from '../../router.js';
import { saveText } from '../../save.js';
import { texts } from '../../texts.js';
import { useRecorder } from './recording.js';
import { SAVED, type Segment, type Transcript } from './transcript.js';

const { listen } = texts;

interface Heard {
  readonly file: File;
  readonly address: string;
  readonly transcript: Transcript;
}

function transcribe(
  file: File,
  language: string,
  signal: AbortSignal,
  progress: (part: number) => void,
): Promise<Transcript> {
  const form = new FormData();
  form.set('ignore_timestamps', 'false');
  if (language) form.set('language', language);
  form.set('audio', file);
  return upload<Transcript>('v1/asr', form, { signal, progress });
}

const Words = ({
  words,
  time,
  play,
}: {
  readonly words: readonly Segment[];
  readonly time: number;
  readonly play: (start: number) => void;
}) => (
  <p class="words">
    {words.map(({ text, start, end }, index) => (
      <button
        key={index}
        type="button"
        class={time >= start && time < end ? 'now' : undefined}
        title={lengthText(start)}
        onClick={() => play(start)}
      >
        {text}
      </button>
    ))}
  </p>
);

/** The sound and its words: the one that is heard is marked, and each plays from its moment on. */
function Played({ heard: { address, transcript } }: { readonly heard: Heard }) {
  const sound = useRef<HTMLAudioElement>(null);
  const [playing, setPlaying] = useState(false);
  const [time, setTime] = useState(-1);
  const look = () => setTime(sound.current?.currentTime ?? -1);
  useFrames(playing, look);
  const play = (start: number) => {
    if (!sound.current) return;
    sound.current.currentTime = start;
    void sound.current.play().catch(() => undefined);
  };
  return (
    <>
      <audio
        ref={sound}
        controls
        src={address}
        onPlay={() => setPlaying(true)}
        onPause={() => setPlaying(false)}
        onSeeked={look}
      />
      {transcript.text === '' && <p class="soft">{listen.nothing}</p>}
      <Words words={transcript.segments} time={time} play={play} />
    </>
  );
}

function Result({ heard }: { readonly heard: Heard }) {
  const { file, transcript } = heard;
  const name = file.name.replace(/\.\w+$/, '');
  return (
    <section class="panel stack tight">
      <div class="row apart">
        <h2>{file.name}</h2>
        <span class="soft">
          {[bytesText(file.size), lengthText(transcript.duration), transcript.language]
            .filter(Boolean)
            .join(' · ')}
        </span>
      </div>
      <Played heard={heard} />
      <div class="row">
        <Copy text={transcript.text} />
        {Object.entries(SAVED).map(([ending, content]) => (
          <button
            key={ending}
            class="button"
            type="button"
            onClick={() => saveText(`${name}.${ending}`, content(transcript))}
          >
            {listen.save(ending)}
          </button>
        ))}
      </div>
    </section>
  );
}

function Drop({
  take,
  children,
}: {
  readonly take: (file: File) => void;
  readonly children: ComponentChildren;
}) {
  const [over, setOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer?.files[0];
    if (file) take(file);
  };
  const hover = (event: DragEvent) => {
    event.preventDefault();
    setOver(true);
  };
  return (
    <div
      class={`drop stack tight ${over ? 'over' : ''}`}
      onDrop={drop}
      onDragOver={hover}
      onDragLeave={() => setOver(false)}
    >
      {children}
    </div>
  );
}

function Sources({ busy, take }: { readonly busy: boolean; readonly take: (file: File) => void }) {
  const recorder = useRecorder(take);
  return (
    <Drop take={take}>
      <p>{listen.drop}</p>
      <div class="row center">
        <FileButton label={listen.choose} accept="audio/*,video/*" disabled={busy} primary take={take} />
        {recorder.recording ? (
          <>
            <button class="button danger" type="button" onClick={recorder.stop}>
              {listen.stop}
            </button>
            <Elapsed />
          </>
        ) : (
          <button class="button" type="button" disabled={busy} onClick={() => void recorder.start()}>
            {listen.record}
          </button>
        )}
      </div>
      <Failure error={recorder.error} />
    </Drop>
  );
}

const Progress = ({ part, cancel }: { readonly part: number; readonly cancel: () => void }) => (
  <div class="row" role="status">
    <label class="inline grow">
      {part < 1 ? listen.sending : listen.working}
      {part < 1 ? <progress value={part} /> : <progress />}
    </label>
    <button class="button" type="button" onClick={cancel}>
      {texts.cancel}
    </button>
  </div>
);

export function Listen() {
  const { query } = useAddress();
  const language = query.get('language') ?? '';
  const [part, setPart] = useState(0);
  const [heard, setHeard] = useState<Heard | undefined>();
  useEffect(() => () => heard && URL.revokeObjectURL(heard.address), [heard]);
  const action = useAction(async (signal, file: File) => {
    setPart(0);
    const transcript = await transcribe(file, language, signal, setPart);
    setHeard({ file, transcript, address: URL.createObjectURL(file) });
  });
  return (
    <Page title={texts.views.listen} intro={listen.intro}>
      <div class="fields">
        <LanguageField value={language} />
      </div>
      <Sources busy={action.busy} take={(file) => void action.run(file)} />
      {action.busy && <Progress part={part} cancel={action.cancel} />}
      <Failure error={action.error} advice={listen.advice} />
      {heard && <Result key={heard.address} heard={heard} />}
    </Page>
  );
}
