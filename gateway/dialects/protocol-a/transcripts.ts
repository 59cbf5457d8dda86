/** A transcript in the forms that protocol A knows (protocol-a.md section 2.3; spec rule 12). */
import { phrasesOf, toSrt, toVtt } from '../../../codecs/subtitles.js';
import type { Transcript } from '../../../contracts/ports/speech.js';
import type { Reply } from '../../server/port.js';
import { seconds } from '../../server/seconds.js';
import { formatEvent, SSE_HEADERS } from '../../server/sse.js';
import { hear, type Heard, type Transcribe } from './heard.js';
import type { ResponseFormat } from './schema.js';
import type { TranscriptionInput } from './uploads.js';

type Wanted = Pick<TranscriptionInput, 'language' | 'words'>;

interface Rendering {
  readonly contentType: string;
  /** Whether it is made of words with their times. */
  readonly timed: boolean;
  render(transcript: Transcript, wanted: Wanted): string;
}

const usageOf = ({ duration }: Transcript) => ({ type: 'duration', seconds: seconds(duration) });

/** What the engines of others report about themselves; constants here (rule 12). */
const ENGINE_INTERNALS = {
  seek: 0,
  tokens: [],
  temperature: 0,
  avg_logprob: 0,
  compression_ratio: 1,
  no_speech_prob: 0,
} as const;

function verbose(transcript: Transcript, { language, words }: Wanted): object {
  const { text, duration, words: timed = [] } = transcript;
  return {
    task: 'transcribe',
    language,
    duration: seconds(duration),
    text,
    segments: phrasesOf(transcript).map((phrase, id) => ({
      id,
      start: seconds(phrase.start),
      end: seconds(phrase.end),
      text: phrase.text,
      ...ENGINE_INTERNALS,
    })),
    ...(words
      ? {
          words: timed.map(({ text, start, end }) => ({
            word: text,
            start: seconds(start),
            end: seconds(end),
          })),
        }
      : {}),
    usage: usageOf(transcript),
  };
}

const RENDERINGS: Readonly<Record<ResponseFormat, Rendering>> = {
  json: {
    contentType: 'application/json',
    timed: false,
    render: (transcript) => JSON.stringify({ text: transcript.text, usage: usageOf(transcript) }),
  },
  text: { contentType: 'text/plain; charset=utf-8', timed: false, render: ({ text }) => `${text}\n` },
  verbose_json: {
    contentType: 'application/json',
    timed: true,
    render: (transcript, wanted) => JSON.stringify(verbose(transcript, wanted)),
  },
  srt: {
    contentType: 'application/x-subrip; charset=utf-8',
    timed: true,
    render: (transcript) => toSrt(phrasesOf(transcript)),
  },
  vtt: {
    contentType: 'text/vtt; charset=utf-8',
    timed: true,
    render: (transcript) => toVtt(phrasesOf(transcript)),
  },
};

export const needsWords = (format: ResponseFormat): boolean => RENDERINGS[format].timed;

const eventOf = ({ text, transcript }: Heard): string =>
  formatEvent({
    data: transcript
      ? { type: 'transcript.text.done', text: transcript.text, usage: usageOf(transcript) }
      : { type: 'transcript.text.delta', delta: text },
  });

async function* transcriptEvents(transcribe: Transcribe): AsyncGenerator<string> {
  for await (const heard of hear(transcribe)) yield eventOf(heard);
}

/** A delta a segment, while the rest is still being heard: their sum is the text. A failure midway breaks the stream. */
export const transcriptStream = (transcribe: Transcribe): Reply => ({
  status: 200,
  headers: SSE_HEADERS,
  body: transcriptEvents(transcribe),
});

export function transcriptReply(transcript: Transcript, input: TranscriptionInput): Reply {
  const { contentType, render } = RENDERINGS[input.format];
  return { status: 200, headers: { 'content-type': contentType }, body: render(transcript, input) };
}
