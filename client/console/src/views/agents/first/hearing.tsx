/** A call with the draft, as one has changed it so far: by voice, by typing, or by clicking on what one could say. */
import { useEffect } from 'preact/hooks';
import type { SessionResponse } from '../../../../../src/place.js';
import { addressOf, ask } from '../../../api.js';
import { useLoad } from '../../../hooks.js';
import { Marked } from '../../../parts/basics.js';
import { Bookings, useBookings } from '../../../parts/bookings.js';
import { Copy } from '../../../parts/copy.js';
import { Lines } from '../../../parts/lines.js';
import { NoMicrophone, useMissingMicrophone } from '../../../parts/no-microphone.js';
import { saveText } from '../../../save.js';
import { texts } from '../../../texts.js';
import { type Conversation, useConversation } from '../../conversation.js';
import { CallControls, RecordLink, Volumes, Writing } from '../../talk-controls.js';
import { useChosenDevices } from '../../talk-devices.js';
import { agentPath } from '../agent-api.js';
import type { Template } from './templates.js';
import { firstTexts } from './texts.js';

const { talk } = texts;

interface Health {
  readonly parts?: readonly { readonly part: string }[];
}

/** Whether no language model is set up. Unknown counts as one, since the note is about something that is missing. */
async function isBuiltin(signal: AbortSignal): Promise<boolean> {
  const { parts } = (await (await fetch(addressOf('health'), { signal })).json()) as Health;
  return parts !== undefined && !parts.some(({ part }) => part === 'model');
}

const ModelNote = ({ template }: { readonly template: Template }) => {
  const { data = false } = useLoad(isBuiltin, []);
  if (!data) return null;
  const text = template.needsModel ? `${firstTexts.builtin} ${firstTexts.builtinCannot}` : firstTexts.builtin;
  return (
    <p class={template.needsModel ? 'notice warn' : 'soft'}>
      <Marked text={text} />
    </p>
  );
};

const Suggestions = ({
  say,
  disabled,
  write,
}: {
  readonly say: readonly string[];
  readonly disabled: boolean;
  readonly write: (text: string) => void;
}) => (
  <div class="stack tight">
    <p class="soft">{firstTexts.say}</p>
    <div class="row">
      {say.map((text) => (
        <button key={text} class="button" type="button" disabled={disabled} onClick={() => write(text)}>
          {text}
        </button>
      ))}
    </div>
  </div>
);

function Written({ lines }: Pick<Conversation, 'lines'>) {
  const text = lines
    .filter(({ speaker }) => speaker === 'user')
    .map((line) => line.text)
    .join('\n');
  return (
    <section class="panel stack tight">
      <div class="row apart">
        <h2>{firstTexts.written}</h2>
        {text !== '' && (
          <div class="row">
            <Copy text={text} />
            <button class="button" type="button" onClick={() => saveText('dictation.txt', text)}>
              {firstTexts.save}
            </button>
          </div>
        )}
      </div>
      <p class="text" role="log" aria-label={firstTexts.written}>
        {text || firstTexts.writtenNone}
      </p>
    </section>
  );
}

/** `flush`: saves what was typed, since a preview runs what is saved; false if that failed. */
export function Hearing({
  id,
  template,
  flush,
}: {
  readonly id: string;
  readonly template: Template;
  readonly flush: () => Promise<boolean>;
}) {
  const { options } = useChosenDevices();
  const { bookings, tools } = useBookings();
  const { state, start, write, end } = useConversation();
  const missing = useMissingMicrophone(state.status);
  useEffect(() => end, []);
  const request = async (signal: AbortSignal): Promise<SessionResponse> => {
    if (!(await flush())) throw new Error(texts.agents.saving.failed);
    const client_timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    return ask<SessionResponse>(agentPath(id, '/preview'), { body: { client_timezone }, signal });
  };
  const call = (microphone: boolean) =>
    start(request, { ...options, ...(!microphone && { microphone }) }, tools);
  const isOn = state.status === 'connected';
  return (
    <section class="panel stack tight">
      <h2>{firstTexts.steps.hear}</h2>
      <ModelNote template={template} />
      <CallControls state={state} ready start={call} end={end} />
      <NoMicrophone missing={state.missing ?? missing} />
      <Volumes state={state} />
      <Suggestions say={template.say} disabled={!isOn} write={(text) => void write(text, true)} />
      <Lines lines={state.lines} speakers={talk.speakers} label={talk.conversation} quiet={talk.quiet} />
      <p class="unseen" aria-live="polite">
        {state.aloud}
      </p>
      {isOn && <Writing write={write} first={state.session?.muted ?? false} />}
      {template.shows === 'bookings' && <Bookings bookings={bookings} />}
      {template.shows === 'written' && <Written lines={state.lines} />}
      <RecordLink state={state} />
    </section>
  );
}
