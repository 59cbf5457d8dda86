/** Controls of a call: begin, end, mute, interrupt, write; and level meters of both sides. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useMay } from '../account.js';
import { submitting, useAction, useKept } from '../hooks.js';
import { Check, Failure, Field } from '../parts/basics.js';
import { Elapsed } from '../parts/elapsed.js';
import { Meters } from '../parts/meters.js';
import { microphoneTexts } from '../parts/microphone-texts.js';
import { linkTo } from '../router.js';
import { texts } from '../texts.js';
import type { Conversation } from './conversation.js';

const { talk } = texts;

/** Moves the focus to the other button when one is disabled, so that keyboard users do not lose their place. */
function useFocusKept(idle: boolean, begun: boolean) {
  const first = useRef<HTMLButtonElement>(null);
  const last = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const held = document.activeElement;
    const lost = !held || held === document.body || held.matches(':disabled');
    if (begun && lost) (idle ? first : last).current?.focus();
  }, [idle]);
  return { first, last };
}

type Pressed = { readonly label: string; readonly disabled: boolean; readonly onClick: () => void };

const Press = ({ label, ...rest }: Pressed) => (
  <button class="button" type="button" {...rest}>
    {label}
  </button>
);

/** Whether the user is muted, and what changes it. */
function useMuted(session: Conversation['session']) {
  const [muted, setMuted] = useState(false);
  useEffect(() => {
    setMuted(session?.muted ?? false);
    // The browser mutes whoever unplugs the microphone, and reports an error.
    return session?.on('error', () => setMuted(session.muted));
  }, [session]);
  const mute = () =>
    void session?.setMuted(!session.muted).then(
      () => setMuted(session.muted),
      () => undefined,
    );
  return { muted, mute };
}

/** A session can be ended as soon as it exists; muting and interrupting need a call that has begun. */
export function CallControls({
  state: { session, status, mode, over },
  ready,
  start,
  end,
}: {
  readonly state: Conversation;
  readonly ready: boolean;
  /** `microphone` is false where one types instead. */
  readonly start: (microphone: boolean) => void;
  readonly end: () => void;
}) {
  const idle = status === 'disconnected';
  const talking = status === 'connected';
  const { muted, mute } = useMuted(session);
  const { first, last } = useFocusKept(idle, session !== undefined);
  return (
    <div class="stack tight">
      <div class="row">
        <button
          ref={first}
          class="button primary"
          type="button"
          disabled={!idle || !ready}
          onClick={() => start(true)}
        >
          {talk.start}
        </button>
        <Press label={microphoneTexts.typeOnly} disabled={!idle || !ready} onClick={() => start(false)} />
        <button
          ref={last}
          class={`button ${idle ? '' : 'danger'}`}
          type="button"
          disabled={idle}
          onClick={end}
        >
          {talk.hangUp}
        </button>
        <Press label={muted ? talk.unmute : talk.mute} disabled={!talking} onClick={mute} />
        <Press label={talk.interrupt} disabled={!talking} onClick={() => session?.interrupt()} />
      </div>
      <p>
        <output>{idle ? over : talk.status[status]}</output>{' '}
        {talking && (
          <>
            <span>{talk.mode[mode]}</span> <Elapsed />
          </>
        )}
      </p>
    </div>
  );
}

export const Volumes = ({ state: { session, status } }: { readonly state: Conversation }) =>
  status === 'connected' && (
    <Meters
      levels={[
        { name: talk.you, read: () => session?.inputVolume ?? 0 },
        { name: talk.them, read: () => session?.outputVolume ?? 0 },
      ]}
    />
  );

/** `first`: one types in this call, and begins in the field. */
export function Writing({
  write,
  first,
}: {
  readonly write: (text: string, audio: boolean) => Promise<void>;
  readonly first: boolean;
}) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (first) input.current?.focus();
  }, []);
  const [text, setText] = useKept<string>('talk.text', '');
  const [silent, setSilent] = useState(false);
  const sending = useAction(async () => {
    await write(text, !silent);
    setText('');
  });
  return (
    <form class="stack tight" onSubmit={submitting(sending)}>
      <div class="row end whole">
        <Field label={talk.write}>
          {(tied) => (
            <input
              {...tied}
              ref={input}
              autocomplete="off"
              required
              value={text}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
            />
          )}
        </Field>
        <button class="button">{talk.send}</button>
      </div>
      <div>
        <Check label={talk.silent} checked={silent} onChange={setSilent} />
      </div>
      <Failure error={sending.error} />
    </form>
  );
}

/** A link to the record of a call that is over. */
export function RecordLink({ state: { sessionId, status } }: { readonly state: Conversation }) {
  const may = useMay();
  if (!may('records') || !sessionId || status !== 'disconnected') return null;
  return (
    <p>
      <a href={linkTo(['calls', sessionId])}>{talk.record}</a>
    </p>
  );
}
