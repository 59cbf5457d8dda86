/** JSON bodies of the platform (docs/contract/platform.md 6.11): 415 without a JSON content type, 400 `Malformed JSON`. */
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { isJson, mediaType, readAll } from '../../server/bodies/body.js';
import type { HttpRequest } from '../../server/port.js';
import { boundJson } from '../../server/bodies/structure.js';

type Incoming = Pick<HttpRequest, 'headers' | 'body' | 'share'>;

/** The text of a body, and its parsed value. */
export interface JsonBody {
  readonly text: string;
  readonly value: unknown;
}

/** Most parts of a body; 16 KiB of metadata have 8,000. Validating more would take too long. */
const MOST_PARTS = 10_000;
const UTF8 = new TextDecoder('utf-8', { fatal: true });
const NOTHING: JsonBody = { text: '{}', value: {} };

function parse(bytes: Uint8Array): JsonBody {
  boundJson(bytes, MOST_PARTS);
  try {
    const text = UTF8.decode(bytes);
    return { text, value: JSON.parse(text) as unknown };
  } catch (cause) {
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

/** Errors: `unsupported_media_type`, `malformed_body`, `payload_too_large`, `request_timeout`. */
export async function readJsonBody(request: Incoming): Promise<JsonBody> {
  expectJson(request.headers);
  return parse(await readAll(request, LIMITS.body.platform));
}

/** As `readJsonBody`, but a missing body counts as an empty object. */
export async function readOptionalJsonBody(request: Incoming): Promise<JsonBody> {
  const bytes = await readAll(request, LIMITS.body.platform);
  if (bytes.length === 0) return NOTHING;
  expectJson(request.headers);
  return parse(bytes);
}

/** The parsed body. Errors: those of `readJsonBody`. */
export const readBody = async (request: Incoming): Promise<unknown> => (await readJsonBody(request)).value;

export const readOptionalBody = async (request: Incoming): Promise<unknown> =>
  (await readOptionalJsonBody(request)).value;
