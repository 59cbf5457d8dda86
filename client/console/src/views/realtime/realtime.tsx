/** A realtime session from this page (docs/contract/protocol-a.md 5): speech and transcription over one socket, with its events shown. */
import { useEffect, useRef } from 'preact/hooks';
import { msText } from '../../format.js';
import { Failure, Field, FigureList, Page } from '../../parts/basics.js';
import { LanguageField } from '../../parts/language-field.js';
import { Lines } from '../../parts/lines.js';
import { SpeedField, VoiceField } from '../../parts/voice-fields.js';
import { setQuery, useAddress } from '../../router.js';
import { texts } from '../../texts.js';
import { AnyEvent, Hear, Say } from './controls.js';
import { Events } from './events.js';
import { type Realtime as Session, useRealtime } from './session.js';

const { realtime } = texts;

interface Wanted {
  readonly kind: 'realtime' | 'transcription';
  readonly voice: string;
  readonly speed: number;
  readonly language: string;
}

const wantedIn = (query: URLSearchParams): Wanted => ({
  kind: query.get('kind') === 'transcription' ? 'transcription' : 'realtime',
  voice: query.get('voice') ?? '',
  speed: Number(query.get('speed') ?? 1),
  language: query.get('language') ?? '',
});

/** The session as `session.update` expects it. */
const sessionOf = ({ kind, voice, speed, language }: Wanted): object => ({
  type: kind,
  audio: {
    input: { transcription: { ...(language && { language }) } },
    ...(kind === 'realtime' && { output: { voice: voice || 'default', speed } }),
  },
});

const KindField = ({ value, disabled }: { readonly value: string; readonly disabled: boolean }) => (
  <Field label={realtime.kind}>
    {(tied) => (
      <select
        {...tied}
        value={value}
        disabled={disabled}
        onChange={({ currentTarget }) => setQuery({ kind: currentTarget.value })}
      >
        {Object.entries(realtime.kinds).map(([kind, name]) => (
          <option key={kind} value={kind}>
            {name}
          </option>
        ))}
      </select>
    )}
  </Field>
);

const Connection = ({
  session: { status, over, error, connect, disconnect },
  wanted,
}: {
  readonly session: Session;
  readonly wanted: Wanted;
}) => (
  <div class="stack tight">
    <div class="row">
      {status === 'disconnected' ? (
        <button class="button primary" type="button" onClick={() => connect(sessionOf(wanted))}>
          {realtime.connect}
        </button>
      ) : (
        <button class="button" type="button" onClick={disconnect}>
          {realtime.disconnect}
        </button>
      )}
      <output class={`tag ${status === 'connected' ? 'good' : ''}`}>{realtime.status[status]}</output>
    </div>
    {status === 'disconnected' && over && <p role="status">{over}</p>}
    <Failure error={error} />
  </div>
);

const Problem = ({ problem }: { readonly problem: Session['progress']['problem'] }) =>
  problem && (
    <div class="notice bad stack tight" role="alert">
      <p>{problem.message}</p>
      <p class="soft">{realtime.advice[problem.code] ?? realtime.adviceElse}</p>
    </div>
  );

const Figures = ({
  progress: { firstAudioMs, transcriptMs, spokenSeconds },
}: {
  readonly progress: Session['progress'];
}) => (
  <FigureList
    rows={[
      [texts.speak.first, msText(firstAudioMs)],
      [realtime.spoken, texts.speak.seconds(spokenSeconds)],
      [realtime.transcriptAfter, msText(transcriptMs)],
    ]}
  />
);

/** Sends changes made during a session; they apply from the next response on. */
function useUpdates({ status, send }: Session, wanted: Wanted): void {
  const session = sessionOf(wanted);
  const now = JSON.stringify(session);
  const known = useRef(now);
  useEffect(() => {
    if (status === 'connected' && known.current !== now) send({ type: 'session.update', session });
    known.current = now;
  }, [now]);
}

export function Realtime() {
  const { query } = useAddress();
  const wanted = wantedIn(query);
  const session = useRealtime();
  const { status, progress, log } = session;
  useUpdates(session, wanted);
  const speaks = wanted.kind === 'realtime';
  return (
    <Page title={texts.views.realtime} intro={realtime.intro}>
      <div class="fields">
        <KindField value={wanted.kind} disabled={status !== 'disconnected'} />
        {speaks && <VoiceField value={wanted.voice} />}
        {speaks && <SpeedField value={wanted.speed} />}
        <LanguageField value={wanted.language} />
      </div>
      <Connection session={session} wanted={wanted} />
      <Problem problem={progress.problem} />
      {status === 'connected' && (
        <>
          <div class="columns">
            {speaks && <Say session={session} />}
            <Hear session={session} />
          </div>
          <AnyEvent session={session} />
        </>
      )}
      {(status === 'connected' || progress.lines.length > 0) && (
        <>
          <Figures progress={progress} />
          <Lines
            lines={progress.lines}
            speakers={realtime.speakers}
            label={realtime.words}
            quiet={texts.talk.quiet}
          />
        </>
      )}
      <Events events={log.events} clear={log.clear} />
    </Page>
  );
}
