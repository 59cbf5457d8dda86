/**
 * Uploads to transcribe, from a multipart form or from JSON (docs/contract/protocol-a.md 2.1 and 2.2).
 * Form fields may come in any order, even after the file, and the name of a list may end in `[]`.
 */
import { booleanOf, isUnset } from '../../../contracts/schemas/coerce.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { A_TRANSCRIPTION, InputAudio, type ResponseFormat } from '../../../contracts/options/protocol-a.js';
import { isList, loggedOptions, refuseOptions, withSpellings } from '../../../contracts/options/reading.js';
import type { StoredFile } from '../../../contracts/ports/speech/codec.js';
import type { TranscriptionModel } from '../../../contracts/speech/models.js';
import { isPlainObject, type PlainObject } from '../../../contracts/schemas/plain-object.js';
import { checker, withoutNulls } from '../../../contracts/schemas/check.js';
import { namedTranscriptionModel } from '../../../contracts/schemas/model-ids.js';
import { refuseOptionHeaders, refuseProviderOptions } from '../../../contracts/schemas/refusals.js';
import { invalid, valid } from '../../../contracts/schemas/valid.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';
import { mediaType } from '../../server/bodies/body.js';
import { jsonOf, providerOptionsOf } from '../../server/bodies/form-options.js';
import { type FormLimits, readSpooledMultipart } from '../../server/bodies/multipart.js';
import type { HttpRequest } from '../../server/port.js';
import { type AudioDocument, readAudioJson } from '../../server/bodies/audio-json.js';
import { TranscriptionFields } from './schema.js';

interface Upload {
  /** Decodes the audio; called after all other fields were checked. */
  audio(): Promise<Uint8Array | StoredFile | undefined>;
  /** Name of the field with the audio, for errors. */
  readonly audioField: string;
  readonly fields: PlainObject;
}

export interface TranscriptionInput {
  readonly audioField: string;
  readonly audio: Uint8Array | StoredFile;
  readonly model: TranscriptionModel;
  /** As sent; empty if none was. */
  readonly language: string;
  readonly format: ResponseFormat;
  /** Whether the reply includes words. */
  readonly words: boolean;
  readonly stream: boolean;
  /** Names of requested options that are ignored. */
  readonly ignored: readonly string[];
}

const AUDIO_BYTES = LIMITS.transcription.audioBytes;

/** Characters of the longest text that is read as a list. */
const LIST_LENGTH = 200;

/**
 * Reads a list that a client wrote into one form field: `["word","segment"]` or `word,segment`. A longer text than any list of
 * this protocol is one value: a field of commas has a million.
 */
function writtenList(text: string): readonly unknown[] {
  if (text.length > LIST_LENGTH) return [text];
  const list = text.trimStart().startsWith('[') ? jsonOf(text) : undefined;
  return Array.isArray(list) ? (list as unknown[]) : text.split(',').map((item) => item.trim());
}

const listOf = (values: readonly unknown[]): readonly unknown[] =>
  values
    .flatMap((value) => (typeof value === 'string' ? writtenList(value) : [value]))
    .filter((value) => !isUnset(value));

/** Form fields as a JSON body would have them: names without brackets, the last value of a repeated scalar. */
export function formFields(form: ReadonlyMap<string, readonly string[]>): PlainObject {
  const fields = new Map<string, unknown[]>();
  for (const [name, values] of form) {
    const bare = name.replace(/\[.*$/s, '');
    fields.set(bare, [...(fields.get(bare) ?? []), ...values]);
  }
  const entries = [...fields].map(([name, values]) => {
    if (isList(A_TRANSCRIPTION, name)) return [name, listOf(values)] as const;
    if (form.has(`${name}[]`)) return [name, values.filter((value) => !isUnset(value))] as const;
    return [name, values.at(-1) === '' ? undefined : values.at(-1)] as const;
  });
  return { ...Object.fromEntries(entries), provider: { options: providerOptionsOf(form) } };
}

const FORM: FormLimits = {
  bodyBytes: LIMITS.body.transcription,
  fileBytes: AUDIO_BYTES,
  fields: LIMITS.http.multipartFields + LIMITS.transcription.keyterms,
  fileField: 'file',
};

async function readForm(request: HttpRequest): Promise<Upload> {
  const form = await readSpooledMultipart(request, FORM);
  const audio = form.files.get('file')?.bytes;
  return { audio: () => Promise.resolve(audio), audioField: 'file', fields: formFields(form.fields) };
}

const checkInputAudio = checker(InputAudio, 'input_audio');

/** The audio of the `input_audio` object at `field`. Errors: `invalid_request`, `audio_too_large`. */
export async function inputAudio(
  value: unknown,
  document: AudioDocument,
  field: string,
): Promise<Uint8Array | StoredFile> {
  const { data } = valid(checkInputAudio(value), field);
  const audio = await document.decode(data, AUDIO_BYTES);
  if (!audio) throw invalid(`${field}.data is not base64`, `${field}.data`);
  return audio;
}

async function readBody(request: HttpRequest): Promise<Upload> {
  const document = await readAudioJson(request, LIMITS.body.transcription);
  const body = withoutNulls(document.value);
  if (!isPlainObject(body)) throw invalid('the body must be of type object', '');
  const fields: PlainObject = body;
  const granularities = fields['timestamp_granularities'];
  const list = typeof granularities === 'string' ? listOf([granularities]) : granularities;
  const given = fields['input_audio'];
  return {
    audio: async () => (given === undefined ? undefined : inputAudio(given, document, 'input_audio')),
    audioField: 'input_audio',
    fields: { ...fields, ...(list === undefined ? {} : { timestamp_granularities: list }) },
  };
}

const checkFields = checker(TranscriptionFields);

/** The fields that are set: some clients send every field, and unset ones as an empty text or `null`. */
const requested = (fields: PlainObject): PlainObject => {
  const plain = withSpellings(fields, A_TRANSCRIPTION);
  return Object.fromEntries(Object.entries(plain).filter(([, value]) => !isUnset(value)));
};

/** Errors: `model_not_found`. */
export const transcriptionModel = (id: string, vocabulary: Vocabulary): TranscriptionModel =>
  namedTranscriptionModel(id, vocabulary, 'model');

/** Formats that can be streamed: a stream carries only text. */
const STREAMED: readonly ResponseFormat[] = ['json', 'text'];

function checkStream(format: ResponseFormat, stream: boolean): void {
  if (!stream || STREAMED.includes(format)) return;
  const message = `stream works with response_format ${STREAMED.join(' and ')} only`;
  throw new ServiceError('unsupported_option', { message, param: 'stream' });
}

async function settle(
  { audio: readAudio, audioField, fields }: Upload,
  vocabulary: Vocabulary,
): Promise<TranscriptionInput> {
  refuseProviderOptions((fields['provider'] as PlainObject | null | undefined)?.['options'], vocabulary);
  refuseOptions(fields, A_TRANSCRIPTION);
  const asked = valid(checkFields(withoutNulls(requested(fields))));
  const model = transcriptionModel(asked.model, vocabulary);
  const format = asked.response_format ?? 'json';
  const stream = booleanOf(asked.stream) ?? false;
  checkStream(format, stream);
  const audio = await readAudio();
  if (!audio) throw invalid(`missing field ${audioField}`, audioField);
  const words = asked.timestamp_granularities?.includes('word') ?? false;
  const ignored = loggedOptions(fields, A_TRANSCRIPTION);
  const language = asked.language ?? '';
  return { audio, audioField, model, language, format, words, stream, ignored };
}

/**
 * Reads and checks the upload. Errors: `invalid_request`, `unsupported_option`, `model_not_found`,
 * `audio_too_large`, `unsupported_media_type`, and those of the readers.
 */
export async function readTranscriptionInput(
  request: HttpRequest,
  vocabulary: Vocabulary,
): Promise<TranscriptionInput> {
  refuseOptionHeaders(request.headers, vocabulary);
  const isForm = mediaType(request.headers) === 'multipart/form-data';
  return settle(await (isForm ? readForm(request) : readBody(request)), vocabulary);
}
