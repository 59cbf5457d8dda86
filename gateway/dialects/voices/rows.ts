/** A row of the route tables of voices and wallet: its types, and the failures that it may describe. */
import type { Caller } from '../../../contracts/ports/accounts/identity.js';
import { failuresAs } from '../../server/openapi/openapi-errors.js';
import type * as routes from '../../server/routes.js';
import type { VoicesParts } from './parts.js';
import { ErrorBody } from './schema.js';

export type VoicesHandler = routes.RouteHandler<VoicesParts, Caller>;
export type VoicesRow = routes.RouteRow<VoicesParts, Caller>;

export const failures = failuresAs(ErrorBody, {
  403: 'This voice belongs to an engine and cannot be changed',
  404: 'No such voice in this workspace',
});
