/** The state of a session, built event by event: speech in both directions, latencies, errors. */
import { RATE } from '../../sound/pcm.js';
import { type Line, withLine } from '../../parts/lines.js';
import { texts } from '../../texts.js';
import { AUDIO_DELTA, type Direction, type RealtimeEvent } from './event-log.js';

export type Speaker = keyof typeof texts.realtime.speakers;

export interface Progress {
  readonly lines: readonly Line<Speaker>[];
  readonly speaking: boolean;
  readonly problem: { readonly code: string; readonly message: string } | undefined;
  /** Times of the last response request and the last commit, in ms of the page's clock. */
  readonly askedAt: number | undefined;
  readonly committedAt: number | undefined;
  readonly firstAudioMs: number | undefined;
  readonly transcriptMs: number | undefined;
  /** Length of all speech received so far. */
  readonly spokenSeconds: number;
}

export const NO_PROGRESS: Progress = {
  lines: [],
  speaking: false,
  problem: undefined,
  askedAt: undefined,
  committedAt: undefined,
  firstAudioMs: undefined,
  transcriptMs: undefined,
  spokenSeconds: 0,
};

const MOST_LINES = 200;

type Step = (before: Progress, event: RealtimeEvent, now: number) => Partial<Progress>;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The lines with that of the event's item set to these words, or extended by them. */
function said(
  { lines }: Progress,
  { item_id: item }: RealtimeEvent,
  speaker: Speaker,
  words: { readonly whole: unknown } | { readonly more: unknown },
): Pick<Progress, 'lines'> {
  const id = textOf(item);
  const before = lines.find((line) => line.id === id)?.text ?? '';
  const text = 'whole' in words ? textOf(words.whole) : before + textOf(words.more);
  return { lines: withLine(lines, { id, speaker, text }).slice(-MOST_LINES) };
}

function problemOf({ error }: RealtimeEvent): Progress['problem'] {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  return { code: textOf(code), message: textOf(message) };
}

const secondsOf = (base64: unknown): number => (textOf(base64).length * 3) / 4 / 2 / RATE;

const HEARD = 'conversation.item.input_audio_transcription';

const RECEIVED: Readonly<Record<string, Step>> = {
  'response.created': () => ({ speaking: true }),
  [AUDIO_DELTA]: ({ askedAt, firstAudioMs, spokenSeconds }, { delta }, now) => ({
    spokenSeconds: spokenSeconds + secondsOf(delta),
    firstAudioMs: firstAudioMs ?? (askedAt === undefined ? undefined : now - askedAt),
  }),
  'response.output_audio_transcript.delta': (before, event) =>
    said(before, event, 'spoken', { more: event['delta'] }),
  'response.output_audio_transcript.done': (before, event) =>
    said(before, event, 'spoken', { whole: event['transcript'] }),
  'response.done': () => ({ speaking: false }),
  [`${HEARD}.delta`]: (before, event) => said(before, event, 'heard', { more: event['delta'] }),
  [`${HEARD}.completed`]: (before, event, now) => ({
    ...said(before, event, 'heard', { whole: textOf(event['transcript']) || texts.listen.nothing }),
    transcriptMs: before.committedAt === undefined ? undefined : now - before.committedAt,
  }),
  [`${HEARD}.failed`]: (_, event) => ({ problem: problemOf(event) }),
  error: (_, event) => ({ problem: problemOf(event) }),
};

const SENT: Readonly<Record<string, Step>> = {
  'response.create': (_before, _event, now) => ({
    askedAt: now,
    firstAudioMs: undefined,
    problem: undefined,
  }),
  'input_audio_buffer.commit': (_before, _event, now) => ({ committedAt: now, problem: undefined }),
};

/** The state after an event; `now` in ms. */
export function after(before: Progress, direction: Direction, event: RealtimeEvent, now: number): Progress {
  const steps = direction === 'sent' ? SENT : RECEIVED;
  return Object.hasOwn(steps, event.type)
    ? { ...before, ...steps[event.type]?.(before, event, now) }
    : before;
}
