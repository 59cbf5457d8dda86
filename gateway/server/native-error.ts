/** How the native APIs say that something went wrong: `{status, message}` (native-and-platform.md 1.4). */
import type { ServiceError } from '../../contracts/errors.js';
import type { Reply } from './port.js';

const challenge = (status: number): Record<string, string> =>
  status === 401 ? { 'www-authenticate': 'Bearer' } : {};

export function nativeError(error: ServiceError): Reply {
  return {
    status: error.status,
    headers: { 'content-type': 'application/json', ...challenge(error.status) },
    body: JSON.stringify({ status: error.status, message: error.message }),
  };
}
