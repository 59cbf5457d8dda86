/** Bodies of more than one content type. */
import { ServiceError } from '../../../contracts/errors.js';
import { bodyType } from '../../server/bodies/body.js';
import type { HttpRequest } from '../../server/port.js';

/** Content type → reader. */
export type Readers<T> = Readonly<Record<string, (request: HttpRequest) => Promise<T>>>;

/** Reads the body by its content type. Errors: `unsupported_media_type`, and the reader's own. */
export function readBody<T>(request: HttpRequest, readers: Readers<T>): Promise<T> {
  const type = bodyType(request.headers);
  const read = Object.hasOwn(readers, type) ? readers[type] : undefined;
  if (read) return read(request);
  const message = `Content-Type must be ${Object.keys(readers).join(' or ')}`;
  throw new ServiceError('unsupported_media_type', { message });
}
