/** Controls of a realtime session: speak a text, send audio, send any event. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { levelOf } from '../../../../src/level.js';
import { submitting, useAction, useKept } from '../../hooks.js';
import { Failure, Field } from '../../parts/basics.js';
import { DeviceField, useDevices, useMicrophoneChoice, USUAL } from '../../parts/devices.js';
import { FileButton } from '../../parts/file-button.js';
import { Meters } from '../../parts/meters.js';
import { type Capture, capture } from '../../sound/capture.js';
import { RATE } from '../../sound/pcm.js';
import { decode } from '../../sound/peaks.js';
import { texts } from '../../texts.js';
import type { RealtimeEvent } from './event-log.js';
import type { Realtime } from './session.js';

const { realtime } = texts;

type Props = { readonly session: Realtime };

export function Say({ session: { say, stopSpeaking, progress } }: Props) {
  const [text, setText] = useKept<string>('realtime.text', texts.speak.example);
  const saying = (event: Event) => {
    event.preventDefault();
    say(text);
  };
  return (
    <form class="panel stack tight" onSubmit={saying}>
      <Field label={realtime.text}>
        {(tied) => (
          <textarea
            {...tied}
            required
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        )}
      </Field>
      <div class="row">
        <button class="button primary" disabled={progress.speaking}>
          {texts.speak.submit}
        </button>
        <button class="button" type="button" onClick={stopSpeaking}>
          {realtime.stopSpeaking}
        </button>
      </div>
    </form>
  );
}

/** The microphone; it stays on while the connection keeps up with its audio. */
function useMicrophone({ append, isBehind }: Realtime, device: string) {
  const level = useRef(0);
  const [on, setOn] = useState(false);
  const [stalled, setStalled] = useState(false);
  const current = useRef<Capture | undefined>(undefined);
  const off = (): void => {
    current.current?.stop();
    current.current = undefined;
    level.current = 0;
    setOn(false);
  };
  useEffect(() => off, []);
  const take = (samples: Float32Array): void => {
    level.current = levelOf(samples);
    if (!isBehind()) return append(samples);
    off();
    setStalled(true);
  };
  const opening = useAction(async (signal) => {
    setStalled(false);
    const opened = await capture(take, device === USUAL ? undefined : device);
    if (signal.aborted) return opened.stop();
    current.current?.stop();
    current.current = opened;
    setOn(true);
  });
  // A newly chosen device takes over at once.
  useEffect(() => void (on && opening.run()), [device]);
  const error = opening.error ?? (stalled ? new Error(realtime.stalled) : undefined);
  return { on, opening, off, error, level: () => level.current };
}

const COMMIT: RealtimeEvent = { type: 'input_audio_buffer.commit' };
const DISCARD: RealtimeEvent = { type: 'input_audio_buffer.clear' };

function Microphone({ session, disabled }: Props & { readonly disabled: boolean }) {
  const [device, setDevice] = useMicrophoneChoice();
  const { on, opening, off, error, level } = useMicrophone(session, device);
  const known = useDevices(on);
  const end = (event: RealtimeEvent) => () => {
    off();
    session.send(event);
  };
  return (
    <>
      <div class="row end">
        <DeviceField device="microphone" known={known} value={device} choose={setDevice} />
        {on ? (
          <>
            <button class="button primary" type="button" onClick={end(COMMIT)}>
              {realtime.commit}
            </button>
            <button class="button" type="button" onClick={end(DISCARD)}>
              {realtime.discard}
            </button>
          </>
        ) : (
          <button
            class="button primary"
            type="button"
            disabled={disabled || opening.busy}
            onClick={() => void opening.run()}
          >
            {realtime.microphone}
          </button>
        )}
      </div>
      <Failure error={error} />
      <Meters
        levels={[
          { name: realtime.input, read: level },
          { name: realtime.output, read: session.outputLevel },
        ]}
      />
    </>
  );
}

/** Audio input. Only the client ends a turn: by switching the microphone off, or at the end of a file. */
export function Hear({ session }: Props) {
  const [part, setPart] = useState(0);
  const sending = useAction(async (signal, file: File) => {
    setPart(0);
    const { samples } = await decode(await file.arrayBuffer(), RATE).catch(() => {
      throw new Error(realtime.noSound);
    });
    await session.appendAll(samples, signal, setPart);
    session.send(COMMIT);
  });
  return (
    <section class="panel stack tight">
      <h2>{realtime.hear}</h2>
      <Microphone session={session} disabled={sending.busy} />
      <div class="row">
        <FileButton
          label={texts.listen.choose}
          accept="audio/*,video/*"
          disabled={sending.busy}
          take={(file) => void sending.run(file)}
        />
        {sending.busy && (
          <div class="row" role="status">
            <label class="inline">
              {texts.listen.sending} <progress value={part} />
            </label>
            <button class="button" type="button" onClick={sending.cancel}>
              {texts.cancel}
            </button>
          </div>
        )}
      </div>
      <Failure error={sending.error} />
    </section>
  );
}

const EXAMPLE = '{ "type": "session.update", "session": { "audio": { "output": { "speed": 1.2 } } } }';

/** Errors: one that explains what an event is. */
function eventIn(text: string): RealtimeEvent {
  try {
    const event = JSON.parse(text) as RealtimeEvent | null;
    if (typeof event?.type === 'string') return event;
  } catch {
    // Reported like any other text that is not an event.
  }
  throw new Error(realtime.noEvent);
}

export function AnyEvent({ session: { send } }: Props) {
  const [text, setText] = useKept<string>('realtime.event', EXAMPLE);
  const sending = useAction(async () => send(eventIn(text)));
  return (
    <details class="panel section">
      <summary>
        <h2>{realtime.any}</h2>
      </summary>
      <form class="stack tight" onSubmit={submitting(sending)}>
        <Field label={realtime.event} help={realtime.eventHelp}>
          {(tied) => (
            <textarea
              {...tied}
              class="mono"
              value={text}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
            />
          )}
        </Field>
        <div>
          <button class="button">{realtime.sendEvent}</button>
        </div>
        <Failure error={sending.error} />
      </form>
    </details>
  );
}
