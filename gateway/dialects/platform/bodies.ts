/** JSON bodies of the platform (docs/contract/platform.md 6.11): 415 without a JSON content type, 400 `Malformed JSON`. */
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { isJson, mediaType, parseLongJson, readAll } from '../../server/bodies/body.js';
import type { HttpRequest } from '../../server/port.js';
import { noteFields } from '../../server/audit.js';
import { isNoJson } from '../../server/bodies/structure.js';

type Incoming = Pick<HttpRequest, 'headers' | 'body' | 'share'> & Partial<Pick<HttpRequest, 'facts'>>;

/** The text of a body, and its parsed value. */
export interface JsonBody {
  readonly text: string;
  readonly value: unknown;
}

/** How much of a body is read. */
export interface BodyBounds {
  readonly bytes: number;
  readonly parts: number;
}

/** With a key: 16 KiB of metadata have 8,000 parts, and validating more than this would take too long. */
const WITH_KEY: BodyBounds = { bytes: LIMITS.body.platform, parts: 10_000 };
const { bodyBytes: bytes, parts } = LIMITS.unauthenticated;
/** Without one. */
export const OF_STRANGERS: BodyBounds = { bytes, parts };
const UTF8 = new TextDecoder();
const NOTHING: JsonBody = { text: '{}', value: {} };

/** In turns of the event loop, if it is large. */
async function parse(bytes: Uint8Array, mostParts: number): Promise<JsonBody> {
  try {
    const value = await parseLongJson(bytes, undefined, mostParts);
    return { text: UTF8.decode(bytes), value };
  } catch (cause) {
    if (!isNoJson(cause)) throw cause;
    throw new ServiceError('malformed_body', { message: 'Malformed JSON', cause });
  }
}

function expectJson(headers: HttpRequest['headers']): void {
  if (isJson(mediaType(headers))) return;
  throw new ServiceError('unsupported_media_type', {
    message: 'Content-Type must be application/json',
    param: 'content-type',
  });
}

/** The audit trail tells which fields were sent. */
function noted({ facts }: Incoming, body: JsonBody): JsonBody {
  noteFields(facts, body.value);
  return body;
}

/** Errors: `unsupported_media_type`, `malformed_body`, `payload_too_large`, `request_timeout`. */
export async function readJsonBody(request: Incoming, bounds = WITH_KEY): Promise<JsonBody> {
  expectJson(request.headers);
  return noted(request, await parse(await readAll(request, bounds.bytes), bounds.parts));
}

/** As `readJsonBody`, but a missing body counts as an empty object. */
export async function readOptionalJsonBody(request: Incoming, bounds = WITH_KEY): Promise<JsonBody> {
  const body = await readAll(request, bounds.bytes);
  if (body.length === 0) return NOTHING;
  expectJson(request.headers);
  return noted(request, await parse(body, bounds.parts));
}

/** The parsed body. Errors: those of `readJsonBody`. */
export const readBody = async (request: Incoming): Promise<unknown> => (await readJsonBody(request)).value;

export const readOptionalBody = async (request: Incoming): Promise<unknown> =>
  (await readOptionalJsonBody(request)).value;
