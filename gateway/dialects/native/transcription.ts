/** Native transcription over HTTP (docs/contract/native.md 4): a file in a form or in MessagePack. */
import { audioOf } from '../../server/bodies/audio-field.js';
import { ServiceError } from '../../../contracts/errors.js';
import { languageOfTag } from '../../../contracts/speech/languages.js';
import { LIMITS } from '../../../contracts/limits.js';
import { DEFAULT_TRANSCRIPTION_MODEL } from '../../../contracts/speech/models.js';
import { sizeOf, StoredFile } from '../../../contracts/ports/speech/codec.js';
import type { Transcript } from '../../../contracts/ports/speech/speech.js';
import { checker, withoutNulls } from '../../../contracts/schemas/check.js';
import { Type } from '../../../contracts/schemas/type.js';
import { authenticate } from '../../server/auth.js';
import { readPackedAudio } from '../../server/bodies/packed-audio.js';
import { unknownFields, warnOfIgnored } from '../../server/ignored-fields.js';
import { readSpooledMultipart } from '../../server/bodies/multipart.js';
import { BYTES } from '../../server/openapi/openapi-audio.js';
import { answers } from '../../server/openapi/openapi-parts.js';
import { withPlace } from '../../server/job-place.js';
import type { HttpRequest } from '../../server/port.js';
import { json } from '../../server/replies.js';
import { seconds } from '../../server/seconds.js';
import { readBody, type Readers } from './bodies.js';
import { FAILURES, type NativeHandler, type NativeRow, TRACEPARENT } from './rows.js';
import { AsrFields, AsrResult } from './schema.js';

const checkAsr = checker(AsrFields);

interface AsrInput {
  readonly audio: Uint8Array | StoredFile;
  readonly language?: string;
  readonly ignoreTimestamps: boolean;
  /** Names of unknown fields that were sent. */
  readonly ignored: readonly string[];
}

const ASR_KNOWN = { audio: true, ...AsrFields.properties };

/** `sent`: all fields by name, to find unknown ones. Errors: `invalid_request`. */
function asrInput(audio: Uint8Array | StoredFile | undefined, fields: unknown, sent: unknown): AsrInput {
  if (audio === undefined) {
    throw new ServiceError('invalid_request', { message: 'missing field audio', param: 'audio' });
  }
  const checked = checkAsr(withoutNulls(fields));
  if (!checked.ok) {
    const [{ message, loc }] = checked.problems;
    throw new ServiceError('invalid_request', { message, param: loc.join('.') });
  }
  const { language, ignore_timestamps: ignore = true } = checked.value;
  const ignored = unknownFields(sent, ASR_KNOWN);
  return { audio, ignored, ignoreTimestamps: ignore, ...(language ? { language } : {}) };
}

/** Reads a form. Its values are text; only `true` counts as true. */
async function asrForm(request: HttpRequest): Promise<AsrInput> {
  const form = await readSpooledMultipart(request, {
    bodyBytes: LIMITS.body.transcription,
    fileBytes: LIMITS.transcription.audioBytes,
    fileField: 'audio',
  });
  const language = form.fields.get('language')?.at(-1);
  const ignore = form.fields.get('ignore_timestamps')?.at(-1);
  const fields = {
    language: language === '' ? undefined : language,
    ignore_timestamps: ignore === undefined ? undefined : ignore === 'true',
  };
  const sent = Object.fromEntries([...form.fields, ...form.files]);
  return asrInput(form.files.get('audio')?.bytes, fields, sent);
}

const isAudio = (value: unknown): value is Uint8Array | StoredFile =>
  value instanceof Uint8Array || value instanceof StoredFile;

async function asrPacked(request: HttpRequest): Promise<AsrInput> {
  const body = await readPackedAudio(request, LIMITS.body.transcription);
  const { audio, ...fields } = body;
  const input = asrInput(isAudio(audio) ? audio : undefined, fields, body);
  if (sizeOf(input.audio) > LIMITS.transcription.audioBytes) throw new ServiceError('audio_too_large');
  return input;
}

const READERS: Readers<AsrInput> = {
  'multipart/form-data': asrForm,
  'application/msgpack': asrPacked,
};

let names: Intl.DisplayNames | undefined;
/** Made at its first use: the runtime takes 10 ms to load its names of languages. */
const nameOf = (code: string): string | undefined =>
  (names ??= new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })).of(code);

/** The requested language, else the recognised one if the engine reports it. `hint`: a language that was accepted. */
function languageOf(hint: string | undefined, heard: string | undefined): Record<string, string> {
  const code = (hint === undefined ? undefined : languageOfTag(hint)) ?? heard;
  if (code === undefined) return {};
  const name = nameOf(code);
  return { language_code: code, ...(name !== undefined && { language: name }) };
}

/** One segment per word if words were requested. */
const resultOf = ({ text, duration, words = [], language: heard }: Transcript, hint: string | undefined) => ({
  text,
  duration: seconds(duration),
  segments: words.map(({ text, start, end }) => ({ text, start: seconds(start), end: seconds(end) })),
  ...languageOf(hint, heard),
});

const transcribe: NativeHandler = async (request, { transcription, keys, admission, log }, observation) => {
  observation.model(DEFAULT_TRANSCRIPTION_MODEL);
  const caller = await withPlace(request, await authenticate(request, keys), admission);
  const input = await readBody(request, READERS);
  warnOfIgnored(input.ignored, request.generationId, log);
  const transcript = await audioOf(
    'audio',
    transcription.transcribe(
      {
        audio: input.audio,
        model: DEFAULT_TRANSCRIPTION_MODEL,
        words: !input.ignoreTimestamps,
        trace: observation,
        ...(input.language ? { language: input.language } : {}),
      },
      caller,
      request.signal,
    ),
  );
  return json(200, resultOf(transcript, input.language));
};

const Body = Type.Object({ audio: BYTES, ...AsrFields.properties });

export const TRANSCRIPTION_ROWS: readonly NativeRow[] = [
  {
    method: 'POST',
    path: '/v1/asr',
    permission: 'speech',
    handler: transcribe,
    description: {
      summary: 'Transcribe audio',
      description: 'wav, mp3, m4a, ogg, webm or flac; recognised by its bytes.',
      tags: ['speech'],
      parameters: [TRACEPARENT],
      requestBody: { 'multipart/form-data': Body, 'application/msgpack': Body },
      responses: { ...answers(200, 'The words', AsrResult), ...FAILURES },
    },
  },
];
