/** JSON bodies of the platform (native-and-platform.md 6.11): 415 without a JSON content type, 400 `Malformed JSON`. */
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { isJson, mediaType, parseJson, readAll } from '../../server/body.js';
import type { HttpRequest } from '../../server/port.js';
import { boundJson } from '../../server/structure.js';

type Incoming = Pick<HttpRequest, 'headers' | 'body'>;

/** More than any body needs: 16 KiB of metadata have 8,000. Telling what is wrong with more would take long. */
const MOST_PARTS = 10_000;

function parse(bytes: Uint8Array): unknown {
  boundJson(bytes, MOST_PARTS);
  try {
    return parseJson(bytes);
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
export async function readBody(request: Incoming): Promise<unknown> {
  expectJson(request.headers);
  return parse(await readAll(request, LIMITS.body.platform));
}

/** The same where the body may be missing; an empty object then. */
export async function readOptionalBody(request: Incoming): Promise<unknown> {
  const bytes = await readAll(request, LIMITS.body.platform);
  if (bytes.length === 0) return {};
  expectJson(request.headers);
  return parse(bytes);
}
