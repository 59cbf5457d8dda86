/** The error for a voice that does not exist: names the requested voice, and the list of those that do. */
import { ServiceError } from '../errors.js';

/** Characters of the id that are shown. */
const SHOWN = 64;

/** `param` as the client spells the field. */
export const missingVoice = (id: string, param?: string): ServiceError => {
  const message = `Reference not found: no voice "${id.slice(0, SHOWN)}"`;
  return new ServiceError('voice_not_found', param === undefined ? { message } : { message, param });
};

/** The message for the client; `list` is the request that lists the voices in the client's API. */
export const toldMessage = (
  { code, message }: Pick<ServiceError, 'code' | 'message'>,
  list: string,
): string => (code === 'voice_not_found' ? `${message}; ${list} lists the voices` : message);
