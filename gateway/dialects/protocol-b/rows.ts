/** A row of protocol B's route table: its types, and the parts that several descriptions share. */
import { type TSchema, Type } from '../../../contracts/schemas/type.js';
import { failuresAs } from '../../server/openapi/openapi-errors.js';
import { answers } from '../../server/openapi/openapi-parts.js';
import type { RouteDescription } from '../../server/port.js';
import type * as routes from '../../server/routes.js';
import type { Observation } from '../../server/tracing/trace-requests.js';
import type { ProtocolBParts } from './parts.js';
import { ErrorBody } from './schema.js';

export type ProtocolBHandler = routes.RouteHandler<ProtocolBParts, Observation>;
export type ProtocolBRow = routes.RouteRow<ProtocolBParts, Observation>;

export const failures = failuresAs(ErrorBody, { 404: 'No such voice' });

type Parameters = NonNullable<RouteDescription['parameters']>;

export const VOICE: Parameters[number] = {
  name: 'voice_id',
  in: 'path',
  required: true,
  description: 'Empty or `default` selects the default voice',
  schema: Type.String(),
};

/** The description of a route that only reads. */
export const reading = (
  summary: string,
  schema: TSchema,
  statuses: readonly number[],
  parameters: Parameters = [],
): RouteDescription => ({
  summary,
  parameters,
  responses: { ...answers(200, 'Found', schema), ...failures(...statuses) },
});
