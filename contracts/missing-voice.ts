/** A voice that does not exist, as its client reads of it: which was asked for, and where those are listed that do. */
import { ServiceError } from './errors.js';

/** Characters of the id that are repeated. */
const SHOWN = 64;

/** `param` as the client spells the field. */
export const missingVoice = (id: string, param?: string): ServiceError => {
  const message = `Reference not found: no voice "${id.slice(0, SHOWN)}"`;
  return new ServiceError('voice_not_found', param === undefined ? { message } : { message, param });
};

/** The message for the client; `list` is the request that lists the voices in the API that answers. */
export const toldMessage = (
  { code, message }: Pick<ServiceError, 'code' | 'message'>,
  list: string,
): string => (code === 'voice_not_found' ? `${message}; ${list} lists the voices` : message);
