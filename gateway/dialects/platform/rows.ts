/** A row of the platform's route tables: its types, shared answers of handlers, and failures for its description. */
import { isId } from '../../../contracts/ids.js';
import type { Caller } from '../../../contracts/ports/accounts/identity.js';
import { ErrorBody, ValidationErrorBody } from '../../../contracts/schemas/shapes.js';
import type { HttpRequest, Reply, RouteDescription } from '../../server/port.js';
import type * as routes from '../../server/routes.js';
import { notFound } from './errors.js';
import type { PlatformParts } from './parts.js';

export type PlatformHandler = routes.RouteHandler<PlatformParts, Caller>;
export type PlatformRow = routes.RouteRow<PlatformParts, Caller>;

/** The id in the path. Errors: `not_found`, also for a text that is no id. */
export function idOf({ params }: HttpRequest, name: string, what: string): string {
  const id = params[name] ?? '';
  if (!isId(id)) throw notFound(what);
  return id;
}

/** Errors: `not_found`. */
export function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw notFound(what);
  return value;
}

/** The answer to a deletion. Errors: `not_found`. */
export function gone(removed: boolean, what: string): Reply {
  if (!removed) throw notFound(what);
  return { status: 204 };
}

const FAILURES: Readonly<Record<number, string>> = {
  400: 'The request cannot be read, or contradicts itself',
  401: 'No key, or a wrong one',
  404: 'There is no such thing in this workspace',
  409: 'Something still refers to it',
  413: 'The body is too large',
  415: 'The content type is not supported',
  503: 'High load; try again later',
};

/** Descriptions of error statuses with their bodies. Every route may answer 401 and 503. */
export const failures = (...statuses: readonly number[]): RouteDescription['responses'] =>
  Object.fromEntries(
    [401, ...statuses, 503].map((status) => [
      status,
      status === 422
        ? { description: 'Not valid; all problems', content: { 'application/json': ValidationErrorBody } }
        : { description: FAILURES[status] ?? '', content: { 'application/json': ErrorBody } },
    ]),
  );

/** Errors of a route that takes a JSON body. */
export const bodyFailures = (...statuses: readonly number[]): RouteDescription['responses'] =>
  failures(400, 413, 415, 422, ...statuses);
