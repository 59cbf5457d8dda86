/**
 * `POST /v1/speech-to-text` (docs/contract/protocol-b.md 4; rules 2, 3, 6, 12): a form whose fields may come in any
 * order, also after the file; the last of a repeated scalar counts.
 */
import { audioOf } from '../../server/bodies/audio-field.js';
import { RECOGNITION_RATE } from '../../../contracts/audio.js';
import { LIMITS } from '../../../contracts/limits.js';
import { describedParameters } from '../../../contracts/options/describing.js';
import { B_TRANSCRIPTION } from '../../../contracts/options/protocol-b.js';
import { isAbsent, isList, queryFields, refuseOptions, rowsIn } from '../../../contracts/options/reading.js';
import { sizeOf, type StoredFile } from '../../../contracts/ports/speech/codec.js';
import type { Transcript, TranscriptionRequest } from '../../../contracts/ports/speech/speech.js';
import { checker } from '../../../contracts/schemas/check.js';
import { refuseOptionHeaders, refuseProviderOptions } from '../../../contracts/schemas/refusals.js';
import { invalid, valid } from '../../../contracts/schemas/valid.js';
import type { PlainObject } from '../../../contracts/schemas/plain-object.js';
import { providerOptionsOf } from '../../server/bodies/form-options.js';
import { type Form, type FormLimits, readSpooledMultipart } from '../../server/bodies/multipart.js';
import { SPEECH_FAILURES } from '../../server/openapi/openapi-errors.js';
import { answers } from '../../server/openapi/openapi-parts.js';
import { withPlace } from '../../server/job-place.js';
import { json } from '../../server/replies.js';
import { seconds } from '../../server/seconds.js';
import { callerOrToken } from './auth.js';
import { languageCode, transcriptionModel } from './catalogue.js';
import { requestIds } from './errors.js';
import type { ProtocolBParts } from './parts.js';
import { failures, type ProtocolBHandler, type ProtocolBRow } from './rows.js';
import { TranscriptionFields, TranscriptionForm, TranscriptionResult } from './schema.js';
import { wordEntries } from './words.js';

/** The form's fields as an object: lists with all values, other fields with their last value, unset ones omitted. */
export function formFields(form: Form['fields']): PlainObject {
  const present = [...form].map(([name, values]): readonly [string, unknown] => {
    const bare = name.replace(/\[\]$/, '');
    const last = values.at(-1) ?? '';
    if (isList(B_TRANSCRIPTION, bare)) return [bare, values];
    return [bare, isAbsent(B_TRANSCRIPTION, bare, last) ? undefined : last];
  });
  return Object.fromEntries(present.filter(([, value]) => value !== undefined));
}

const FORM: FormLimits = {
  bodyBytes: LIMITS.body.transcription,
  fileBytes: LIMITS.transcription.audioBytes,
  fields: LIMITS.http.multipartFields + LIMITS.transcription.keyterms,
  fileField: 'file',
};

const checkFields = checker(TranscriptionFields);

interface Asked {
  readonly request: TranscriptionRequest;
  /** Exactly what the client sent; empty if it sent none. */
  readonly language: string;
  readonly words: boolean;
}

const rawAudio = (file: Uint8Array | StoredFile): TranscriptionRequest['audio'] =>
  file instanceof Uint8Array
    ? { chunks: [file], sampleRate: RECOGNITION_RATE }
    : { file, sampleRate: RECOGNITION_RATE };

/** Checks the whole form. Errors: `invalid_request`, `unsupported_option`, `model_not_found`. */
function askedBy(
  { fields: form, files }: Form<Uint8Array | StoredFile>,
  { vocabulary }: ProtocolBParts,
): Asked {
  refuseProviderOptions(providerOptionsOf(form), vocabulary);
  const fields = formFields(form);
  refuseOptions(fields, B_TRANSCRIPTION);
  const asked = valid(checkFields(fields));
  const model = transcriptionModel(asked.model_id, vocabulary);
  const file = files.get('file')?.bytes;
  if (!file || sizeOf(file) === 0) throw invalid('missing field file', 'file');
  const { language_code: language = '', timestamps_granularity: granularity, file_format: format } = asked;
  const audio = format === 'pcm_s16le_16' ? rawAudio(file) : file;
  const words = granularity !== 'none';
  const terms = asked.keyterms ?? [];
  const code = languageCode(language);
  return {
    request: { audio, model, words, terms, ...(code === '' ? {} : { language: code }) },
    language,
    words,
  };
}

/** Rule 12: values that are not measured are constant, and the language is the request's. */
const resultOf = (transcript: Transcript, { language, words }: Asked, id: string): object => ({
  language_code: language,
  language_probability: 1,
  text: transcript.text,
  words: words ? wordEntries(transcript) : [],
  transcription_id: id,
  audio_duration_secs: seconds(transcript.duration),
});

const transcribe: ProtocolBHandler = async (request, parts, observation) => {
  const known = await callerOrToken(request, 'batch_scribe', parts);
  const caller = await withPlace(request, known, parts.admission);
  refuseOptionHeaders(request.headers, parts.vocabulary);
  refuseOptions(queryFields(request.query, B_TRANSCRIPTION), rowsIn(B_TRANSCRIPTION, 'query'));
  const form = await readSpooledMultipart(request, FORM);
  const asked = askedBy(form, parts);
  observation.model(asked.request.model);
  const wanted = { ...asked.request, trace: observation };
  const transcript = await audioOf('file', parts.transcription.transcribe(wanted, caller, request.signal));
  const result = resultOf(transcript, asked, request.generationId);
  return json(200, result, requestIds(request.generationId));
};

export const TRANSCRIPTION_ROWS: readonly ProtocolBRow[] = [
  {
    method: 'POST',
    path: '/v1/speech-to-text',
    permission: 'speech',
    handler: transcribe,
    description: {
      summary: 'Transcribe audio (protocol B)',
      description:
        'wav, mp3, m4a, ogg, webm or flac, recognised by its bytes, or raw samples by `file_format`.',
      parameters: describedParameters(B_TRANSCRIPTION, 'query'),
      requestBody: { 'multipart/form-data': TranscriptionForm },
      responses: { ...answers(200, 'The transcript', TranscriptionResult), ...failures(...SPEECH_FAILURES) },
    },
  },
];
