/** Text to speech, played and drawn as it arrives, with the request as code for other programs. */
import { Fragment } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { request } from '../../api.js';
import { msText } from '../../format.js';
import { useAction, useKept } from '../../hooks.js';
import { Failure, Field, FigureList, Page } from '../../parts/basics.js';
import { Copy } from '../../parts/copy.js';
import { NaturalVoice } from '../../parts/models.js';
import { useShelf } from '../../parts/shelf.js';
import { SpeedField, VoiceField } from '../../parts/voice-fields.js';
import { outline } from '../../sound/peaks.js';
import type { Word } from '../../sound/live.js';
import { saveFile } from '../../save.js';
import { texts } from '../../texts.js';
import { setQuery, useAddress } from '../../router.js';
import { bodyOf, PROGRAMS, type Wanted } from './requests.js';
import { type Spoken, useSpeaking } from './speaking.js';

const { speak } = texts;

const FORMATS = ['mp3', 'wav', 'opus', 'pcm'] as const;

const Settings = ({ wanted }: { readonly wanted: Wanted }) => (
  <div class="fields">
    <VoiceField value={wanted.voice} />
    <SpeedField value={wanted.speed} />
    <Field label={speak.format} help={speak.formatHelp}>
      {(tied) => (
        <select
          {...tied}
          value={wanted.format}
          onChange={({ currentTarget }) => setQuery({ format: currentTarget.value })}
        >
          {FORMATS.map((format) => (
            <option key={format}>{format}</option>
          ))}
        </select>
      )}
    </Field>
  </div>
);

const Words = ({ words, time }: { readonly words: readonly Word[]; readonly time: number }) => (
  <p class="words">
    {words.map(({ text, start, end }, index) => (
      <Fragment key={index}>
        <span class={time >= start && time < end ? 'now' : undefined}>{text.trimEnd()}</span>
        {text.slice(text.trimEnd().length)}
      </Fragment>
    ))}
  </p>
);

function Heard({ spoken, time }: { readonly spoken: Spoken; readonly time: number }) {
  const { peaks, seconds, words, firstMs, allMs } = spoken;
  const wave = useMemo(() => outline(peaks, {}), [peaks]);
  if (firstMs === undefined) return null;
  return (
    <>
      <svg class="wave" viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" aria-label={speak.wave}>
        <path d={wave} fill="currentColor" />
        <rect class="now" x={(time / Math.max(seconds, 0.1)) * 1000} width={1.5} height={100} />
      </svg>
      <Words words={words} time={time} />
      <FigureList
        rows={[
          [speak.first, msText(firstMs)],
          [speak.all, msText(allMs)],
          [speak.length, speak.seconds(seconds)],
        ]}
      />
    </>
  );
}

/** Requests the speech again, in the chosen format, and saves it. */
async function save(signal: AbortSignal, wanted: Wanted): Promise<void> {
  const file = await (await request('v1/tts', { body: bodyOf(wanted), signal })).blob();
  saveFile(`speech.${wanted.format}`, file);
}

function Programs({ wanted }: { readonly wanted: Wanted }) {
  const [name, setName] = useState<keyof typeof PROGRAMS>('curl');
  const text = PROGRAMS[name](wanted);
  return (
    <section class="panel stack tight">
      <div class="row apart">
        <h2>{speak.request}</h2>
        <Copy text={text} />
      </div>
      <div class="tabs" role="group" aria-label={speak.request}>
        {(Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[]).map((each) => (
          <button key={each} type="button" aria-pressed={each === name} onClick={() => setName(each)}>
            {each}
          </button>
        ))}
      </div>
      <pre tabIndex={0}>{text}</pre>
    </section>
  );
}

function Buttons({
  wanted,
  speaking,
}: {
  readonly wanted: Wanted;
  readonly speaking: ReturnType<typeof useSpeaking>;
}) {
  const { action, again, stop, sounding, spoken } = speaking;
  const saving = useAction(save);
  const empty = wanted.text.trim() === '';
  return (
    <>
      <div class="row">
        <button class="button primary" disabled={empty || action.busy}>
          {speak.submit}
        </button>
        <button class="button" type="button" disabled={!action.busy && !sounding} onClick={stop}>
          {speak.stop}
        </button>
        <button
          class="button"
          type="button"
          disabled={action.busy || sounding || spoken.seconds === 0}
          onClick={again}
        >
          {speak.again}
        </button>
        <button
          class="button"
          type="button"
          disabled={empty || saving.busy}
          onClick={() => void saving.run(wanted)}
        >
          {speak.save(wanted.format)}
        </button>
      </div>
      <Failure error={action.error ?? saving.error} />
    </>
  );
}

export function Speak() {
  const { query } = useAddress();
  const [text, setText] = useKept<string>('speak.text', speak.example);
  const wanted: Wanted = {
    text,
    voice: query.get('voice') ?? '',
    speed: Number(query.get('speed')) || 1,
    format: query.get('format') ?? 'mp3',
  };
  const speaking = useSpeaking();
  // Voices are asked for again once there are others.
  const [round, setRound] = useState(0);
  const shelf = useShelf(() => setRound((count) => count + 1));
  const submit = (event: Event) => {
    event.preventDefault();
    void speaking.action.run(wanted);
  };
  return (
    <Page title={texts.views.speak} intro={speak.intro}>
      <div class="columns">
        <form class="stack" onSubmit={submit}>
          <Field label={speak.text}>
            {(tied) => (
              <textarea
                {...tied}
                rows={5}
                value={text}
                onInput={({ currentTarget }) => setText(currentTarget.value)}
              />
            )}
          </Field>
          <Settings key={round} wanted={wanted} />
          <Buttons wanted={wanted} speaking={speaking} />
          <Heard spoken={speaking.spoken} time={speaking.time} />
        </form>
        <Programs wanted={wanted} />
      </div>
      {/* Comes later than the rest: below it, so that nothing moves. */}
      <NaturalVoice used={shelf} />
    </Page>
  );
}
