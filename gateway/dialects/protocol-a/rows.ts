/** A row of protocol A's route table: its types, and parts that several route descriptions share. */
import { describedParameters } from '../../../contracts/options/describing.js';
import { A_MODELS } from '../../../contracts/options/protocol-a.js';
import { failuresAs, SPEECH_FAILURES } from '../../server/openapi/openapi-errors.js';
import type * as routes from '../../server/routes.js';
import type { Observation } from '../../server/tracing/trace-requests.js';
import type { BaseParts } from './parts.js';
import { ErrorBody } from './schema.js';

export type ProtocolAHandler = routes.RouteHandler<BaseParts, Observation>;
export type ProtocolARow = routes.RouteRow<BaseParts, Observation>;

export const failures = failuresAs(ErrorBody);
/** Failures of a route that speaks or transcribes. */
export const FAILURES = failures(...SPEECH_FAILURES);

const { limit, offset } = A_MODELS;

export const PAGE = describedParameters({ limit, offset }, 'query');
