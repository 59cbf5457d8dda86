/** A transcript in the response formats of protocol A (docs/contract/protocol-a.md 2.3; rule 12). */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { phrasesOf, toSrt, toVtt } from '../../../codecs/subtitles.js';
import { type ServiceError, toServiceError } from '../../../contracts/errors.js';
import type { Transcript } from '../../../contracts/ports/speech/speech.js';
import type { Reply } from '../../server/port.js';
import { seconds } from '../../server/seconds.js';
import { formatEvent, SSE_HEADERS } from '../../server/sse.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';
import { streamErrorBody } from './errors.js';
import { usageOfTranscription } from './chat/usage.js';
import { partsOf, type Transcribe, type TranscriptPart } from './transcript-stream.js';
import type { ResponseFormat } from '../../../contracts/options/protocol-a.js';
import type { TranscriptionInput } from './uploads.js';

type Wanted = Pick<TranscriptionInput, 'language' | 'words'> & {
  /** The request's id for clients of the inference provider; absent on the other bases. */
  readonly groqId?: string;
};

interface Rendering {
  readonly contentType: string;
  /** Whether it needs words with their times. */
  readonly timed: boolean;
  render(transcript: Transcript, wanted: Wanted): string;
}

const usageOf = ({ duration }: Transcript) => ({ type: 'duration', seconds: seconds(duration) });

/** Usage at the end of a stream, in tokens: the clients' schema allows no other unit there. */
function tokenUsageOf({ text, duration }: Transcript): object {
  const { prompt_tokens: input, completion_tokens: output } = usageOfTranscription(text, duration);
  return {
    type: 'tokens',
    input_tokens: input,
    input_token_details: { text_tokens: 0, audio_tokens: input },
    output_tokens: output,
    total_tokens: input + output,
  };
}

const requestOf = ({ groqId }: Wanted): object => (groqId === undefined ? {} : { x_groq: { id: groqId } });

/** Placeholder values of `verbose_json`: internals that engines of other services report, neutral constants here (rule 12). */
const ENGINE_INTERNALS = {
  seek: 0,
  tokens: [],
  temperature: 0,
  avg_logprob: 0,
  compression_ratio: 1,
  no_speech_prob: 0,
} as const;

function verbose(transcript: Transcript, wanted: Wanted): object {
  const { language, words } = wanted;
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
    ...requestOf(wanted),
  };
}

const RENDERINGS: Readonly<Record<ResponseFormat, Rendering>> = {
  json: {
    contentType: 'application/json',
    timed: false,
    render: (transcript, wanted) =>
      JSON.stringify({ text: transcript.text, usage: usageOf(transcript), ...requestOf(wanted) }),
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

const eventOf = ({ text, transcript }: TranscriptPart): string =>
  formatEvent({
    data: transcript
      ? { type: 'transcript.text.done', text: transcript.text, usage: tokenUsageOf(transcript) }
      : { type: 'transcript.text.delta', delta: text },
  });

/** The last event, on which clients that read streams by hand end. */
const DONE = 'data: [DONE]\n\n';

/** The last event of a stream that fails, on which clients throw. */
type FailureEvent = (error: ServiceError) => string;

/** A failure before the first event is thrown; a later one is sent as an event, then thrown. */
async function* transcriptEvents(transcribe: Transcribe, failure: FailureEvent): AsyncGenerator<string> {
  let begun = false;
  try {
    for await (const part of partsOf(transcribe)) {
      yield eventOf(part);
      begun = true;
    }
    yield DONE;
  } catch (error) {
    if (begun) {
      yield failure(toServiceError(error));
      // Lets the event reach the kernel before the connection is destroyed.
      await nextTurn();
    }
    throw error;
  }
}

/** Sends one delta per segment while the rest is still being transcribed; together they are the text. */
export function transcriptStream(
  transcribe: Transcribe,
  vocabulary: Pick<Vocabulary, 'providerName'>,
): Reply {
  const breakOff: FailureEvent = (error) =>
    formatEvent({ event: 'error', data: { error: streamErrorBody(error, vocabulary) } });
  return { status: 200, headers: SSE_HEADERS, body: transcriptEvents(transcribe, breakOff), breakOff };
}

export function transcriptReply(
  transcript: Transcript,
  wanted: Wanted & Pick<TranscriptionInput, 'format'>,
): Reply {
  const { contentType, render } = RENDERINGS[wanted.format];
  return { status: 200, headers: { 'content-type': contentType }, body: render(transcript, wanted) };
}
