/** A row of the native API's table: its types, and the parts that several descriptions share. */
import { Type } from '../../../contracts/schemas/type.js';
import { failuresAs, SPEECH_FAILURES } from '../../server/openapi/openapi-errors.js';
import type * as routes from '../../server/routes.js';
import type { Observation } from '../../server/tracing/trace-requests.js';
import type { NativeParts } from './parts.js';
import { ErrorBody } from './schema.js';

export type NativeHandler = routes.RouteHandler<NativeParts, Observation>;
export type NativeRow = routes.RouteRow<NativeParts, Observation>;

export const FAILURES = failuresAs(ErrorBody)(...SPEECH_FAILURES);

export const TRACEPARENT = {
  name: 'traceparent',
  in: 'header',
  schema: Type.String(),
  description: 'W3C trace context; a new trace starts if it is absent or invalid',
} as const;
