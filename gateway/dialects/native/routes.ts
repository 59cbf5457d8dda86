/** The HTTP routes of native speech (native-and-platform.md sections 1, 2 and 4). */
import { FORMATS } from '../../../codecs/formats.js';
import type { Clock } from '../../../contracts/clock.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LANGUAGE_NAMES, isLanguage } from '../../../contracts/languages.js';
import { LIMITS } from '../../../contracts/limits.js';
import { DEFAULT_TRANSCRIPTION_MODEL } from '../../../contracts/models.js';
import type { Log } from '../../../contracts/log.js';
import type { Caller, KeyAuthority } from '../../../contracts/ports/identity.js';
import type { Speech, SynthesisRequest, Transcript, Transcription } from '../../../contracts/ports/speech.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';
import { authenticate } from '../../server/auth.js';
import { mediaType, readJson, readMsgpack } from '../../server/body.js';
import { readMultipart } from '../../server/multipart.js';
import type { HttpRequest, Reply } from '../../server/port.js';
import { seconds } from '../../server/seconds.js';
import { SSE_HEADERS } from '../../server/sse.js';
import type { Observation } from '../../server/trace-requests.js';
import { type AsrInput, asrInput, modelOf, synthesisRequest } from './params.js';
import { timedEvents } from './timestamps.js';

export interface NativeParts {
  readonly speech: Speech;
  readonly transcription: Transcription;
  readonly keys: KeyAuthority;
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
  readonly log: Log;
}

type Reader<T> = (request: HttpRequest) => Promise<T>;

/** Reads the body by its content type. Errors: `unsupported_media_type`, and the reader's own. */
function readBody<T>(request: HttpRequest, readers: Readonly<Record<string, Reader<T>>>): Promise<T> {
  const type = mediaType(request.headers);
  const read = Object.hasOwn(readers, type) ? readers[type] : undefined;
  if (read) return read(request);
  const message = `Content-Type must be ${Object.keys(readers).join(' or ')}`;
  throw new ServiceError('unsupported_media_type', { message });
}

const TTS_READERS: Readonly<Record<string, Reader<unknown>>> = {
  'application/json': (request) => readJson(request, LIMITS.body.nativeSynthesis),
  'application/msgpack': (request) => readMsgpack(request, LIMITS.body.nativeSynthesis),
};

interface Wanted {
  readonly request: SynthesisRequest;
  readonly caller: Caller;
}

/** Key first, then body. Errors: of authentication, of the body's reader, of `synthesisRequest`. */
async function readSynthesis(
  request: HttpRequest,
  { keys, vocabulary }: NativeParts,
  observation: Observation,
): Promise<Wanted> {
  const caller = await authenticate(request, keys);
  const body = await readBody(request, TTS_READERS);
  const model = modelOf(request.headers.get('model'), vocabulary.vendor);
  observation.model(model);
  return { caller, request: { ...synthesisRequest(body, model), trace: observation } };
}

export async function tts(
  request: HttpRequest,
  parts: NativeParts,
  observation: Observation,
): Promise<Reply> {
  const wanted = await readSynthesis(request, parts, observation);
  return {
    status: 200,
    headers: { 'content-type': FORMATS[wanted.request.output.format].contentType },
    body: parts.speech.synthesize(wanted.request, wanted.caller, request.signal),
  };
}

export async function ttsWithTimestamps(
  request: HttpRequest,
  parts: NativeParts,
  observation: Observation,
): Promise<Reply> {
  const wanted = await readSynthesis(request, parts, observation);
  const audio = parts.speech.synthesizeTimed(wanted.request, wanted.caller, request.signal);
  return { status: 200, headers: SSE_HEADERS, body: timedEvents(audio) };
}

/** Multipart values are text; only `true` counts as true. */
async function asrForm(request: HttpRequest): Promise<AsrInput> {
  const form = await readMultipart(request, {
    bodyBytes: LIMITS.body.transcription,
    fileBytes: LIMITS.transcription.audioBytes,
  });
  const language = form.fields.get('language')?.at(-1);
  const ignore = form.fields.get('ignore_timestamps')?.at(-1);
  return asrInput(form.files.get('audio')?.bytes, {
    language: language === '' ? undefined : language,
    ignore_timestamps: ignore === undefined ? undefined : ignore === 'true',
  });
}

async function asrPacked(request: HttpRequest): Promise<AsrInput> {
  const body = await readMsgpack(request, LIMITS.body.transcription);
  const { audio } = (body ?? {}) as { readonly audio?: unknown };
  const input = asrInput(audio, body);
  if (input.audio.length > LIMITS.transcription.audioBytes) throw new ServiceError('audio_too_large');
  return input;
}

const ASR_READERS: Readonly<Record<string, Reader<AsrInput>>> = {
  'multipart/form-data': asrForm,
  'application/msgpack': asrPacked,
};

/** The hint comes back, never a detection. */
function languageOf(hint: string | undefined): Record<string, string> {
  const code = hint?.toLowerCase().split('-')[0];
  if (code === undefined) return {};
  return isLanguage(code) ? { language_code: code, language: LANGUAGE_NAMES[code] } : { language_code: code };
}

/** One segment a word where words were asked for. */
const resultOf = ({ text, duration, words = [] }: Transcript, language: string | undefined) => ({
  text,
  duration: seconds(duration),
  segments: words.map(({ text, start, end }) => ({ text, start: seconds(start), end: seconds(end) })),
  ...languageOf(language),
});

export async function asr(
  request: HttpRequest,
  { transcription, keys }: NativeParts,
  observation: Observation,
): Promise<Reply> {
  observation.model(DEFAULT_TRANSCRIPTION_MODEL);
  const caller = await authenticate(request, keys);
  const input = await readBody(request, ASR_READERS);
  const transcript = await transcription.transcribe(
    {
      audio: input.audio,
      model: DEFAULT_TRANSCRIPTION_MODEL,
      words: !input.ignoreTimestamps,
      trace: observation,
      ...(input.language ? { language: input.language } : {}),
    },
    caller,
    request.signal,
  );
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(resultOf(transcript, input.language)),
  };
}
