/** Errors of the native APIs on the wire: `{status, message}` (docs/contract/native.md 1.4). */
import type { ServiceError } from '../../contracts/errors.js';
import { toldMessage } from '../../contracts/speech/missing-voice.js';
import type { Reply } from './port.js';
import { json } from './replies.js';

/** The message for a client of the native APIs. */
export const nativeMessage = (error: ServiceError): string => toldMessage(error, 'GET /model');

/** The header that a 401 needs: it names the authentication scheme. */
export const challenge = (status: number): Record<string, string> =>
  status === 401 ? { 'www-authenticate': 'Bearer' } : {};

export const nativeError = (error: ServiceError): Reply =>
  json(error.status, { status: error.status, message: nativeMessage(error) }, challenge(error.status));
