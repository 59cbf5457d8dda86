/**
 * Bodies of `/model` in the four content types that its clients send. Forms carry text only, so a table here says
 * which fields are lists or booleans. Files are bytes in multipart and MessagePack, base64 elsewhere.
 */
import { decodeBase64 } from '../../../contracts/text/base64.js';
import { booleanOf } from '../../../contracts/schemas/coerce.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { isPlainObject } from '../../../contracts/schemas/plain-object.js';
import { bodyType, readAll, readJson, readMsgpack } from '../../server/bodies/body.js';
import { readMultipart } from '../../server/bodies/multipart.js';
import type { HttpRequest } from '../../server/port.js';

const limits = LIMITS.voice;
const FORM_BYTES = LIMITS.body.platform;
/** Most files of a form: those of the voice, and its cover. */
const FILES = limits.references.max + 1;

export interface VoiceUpload {
  /** Fields by their names in the schema, not validated yet. */
  readonly fields: unknown;
  /** Files of the field `voices`, in order. */
  readonly files: readonly Uint8Array[];
}

type Values = ReadonlyMap<string, readonly string[]>;

/** Characters of the longest text that may be a list of tags, with a comma and a blank behind each. */
const TAGS_LENGTH = limits.tags * (limits.tag.max + 2);

/**
 * Splits values at commas, since some clients put a whole list into one field. A longer text than any list of tags is one
 * value: a field of commas has a million.
 */
const commas = (values: readonly string[]): string[] =>
  values
    .flatMap((value) => (value.length > TAGS_LENGTH ? [value] : value.split(',')))
    .map((value) => value.trim())
    .filter((value) => value !== '');

const flag = (values: readonly string[]): unknown => booleanOf(values.at(-1)) ?? values.at(-1);

const FORM_READERS: Readonly<Record<string, (values: readonly string[]) => unknown>> = {
  tags: commas,
  texts: (values) => values,
  enhance_audio_quality: flag,
  generate_sample: flag,
};

const fieldsOf = (values: Values): unknown =>
  Object.fromEntries(
    [...values].map(([name, all]) => {
      const read = Object.hasOwn(FORM_READERS, name) ? FORM_READERS[name] : undefined;
      return [name, read ? read(all) : all.at(-1)];
    }),
  );

const invalidFile = (): ServiceError =>
  new ServiceError('invalid_request', { message: 'voices must be audio files', param: 'voices' });

const encodedFile = (value: unknown): Uint8Array => {
  const bytes =
    value instanceof Uint8Array ? value : typeof value === 'string' ? decodeBase64(value) : undefined;
  if (bytes === undefined) throw invalidFile();
  return bytes;
};

/** VoiceUpload of JSON or MessagePack; `voices` is a list of files or one file. */
function bodyOf(value: unknown): VoiceUpload {
  if (!isPlainObject(value)) return { fields: value, files: [] };
  const { voices = [], ...fields } = value;
  const listed: readonly unknown[] = voices === null ? [] : Array.isArray(voices) ? voices : [voices];
  // Decodes at most one file more than allowed, which is enough to refuse the body.
  return { fields, files: listed.slice(0, limits.references.max + 1).map(encodedFile) };
}

/**
 * One text per file. Some clients join the list into one field, with commas that no white space follows, as it would
 * within a sentence: split at those if that gives as many texts as files.
 */
function textsOf(values: readonly string[], files: number): readonly string[] {
  const [only, ...others] = values;
  const parted = others.length === 0 ? only?.split(/,(?!\s)/u, files + 1) : undefined;
  return parted?.length === files ? parted : values;
}

async function multipart(request: HttpRequest): Promise<VoiceUpload> {
  const form = await readMultipart(request, {
    bodyBytes: limits.bodyBytes,
    fileBytes: limits.referenceBytes,
    files: FILES,
  });
  const files = form.everyFile.get('voices') ?? [];
  const values = new Map<string, readonly string[]>(form.fields);
  const texts = values.get('texts');
  if (texts) values.set('texts', textsOf(texts, files.length));
  return { fields: fieldsOf(values), files: files.map(({ bytes }) => bytes) };
}

async function urlencoded(request: HttpRequest): Promise<VoiceUpload> {
  const text = Buffer.from(await readAll(request, FORM_BYTES)).toString('utf8');
  if (text.split('&', LIMITS.http.multipartFields + 1).length > LIMITS.http.multipartFields)
    throw new ServiceError('malformed_body', { message: 'The form has too many fields' });
  const form = new URLSearchParams(text);
  const values = new Map([...new Set(form.keys())].map((name) => [name, form.getAll(name)]));
  const files = (values.get('voices') ?? []).map(encodedFile);
  values.delete('voices');
  return { fields: fieldsOf(values), files };
}

const READERS: Readonly<Record<string, (request: HttpRequest) => Promise<VoiceUpload>>> = {
  'application/json': async (request) => bodyOf(await readJson(request, limits.bodyBytes)),
  'application/msgpack': async (request) => bodyOf(await readMsgpack(request, limits.bodyBytes)),
  'multipart/form-data': multipart,
  'application/x-www-form-urlencoded': urlencoded,
};

export const BODY_TYPES = Object.keys(READERS);

/** Errors: `unsupported_media_type`, `invalid_request`, and those of the type's reader. */
export async function readBody(request: HttpRequest): Promise<VoiceUpload> {
  const type = bodyType(request.headers);
  const read = Object.hasOwn(READERS, type) ? READERS[type] : undefined;
  if (read) return read(request);
  const message = `Content-Type must be ${BODY_TYPES.join(' or ')}`;
  throw new ServiceError('unsupported_media_type', { message });
}
