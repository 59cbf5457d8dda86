/** Replies of one form. */
import { stringify } from '../../contracts/raw-json.js';
import type { Reply } from './port.js';

/** JSON; a `RawJson` in the value goes out as it came in. */
export const json = (status: number, value: object, headers: Reply['headers'] = {}): Reply => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: stringify(value),
});
