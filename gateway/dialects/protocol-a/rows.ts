/** A row of protocol A's route table: its types, and parts that several route descriptions share. */
import { Type } from '../../../contracts/schemas/type.js';
import { failuresAs, SPEECH_FAILURES } from '../../server/openapi/openapi-errors.js';
import type { RouteDescription } from '../../server/port.js';
import type * as routes from '../../server/routes.js';
import type { Observation } from '../../server/tracing/trace-requests.js';
import { MOST } from './paging.js';
import type { BaseParts } from './parts.js';
import { ErrorBody } from './schema.js';

export type Handler = routes.Handler<BaseParts, Observation>;
export type Row = routes.Row<BaseParts, Observation>;

export const failures = failuresAs(ErrorBody);
/** Failures of a route that speaks or transcribes. */
export const FAILURES = failures(...SPEECH_FAILURES);
export const TAGS = ['protocol A'];

export const PAGE: NonNullable<RouteDescription['parameters']> = [
  {
    name: 'limit',
    in: 'query',
    description: 'The most entries of the answer',
    schema: Type.Integer({ minimum: 1, maximum: MOST }),
  },
  {
    name: 'offset',
    in: 'query',
    description: 'Entries to skip first',
    schema: Type.Integer({ minimum: 0, maximum: MOST }),
  },
];
