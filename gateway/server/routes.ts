/**
 * Routes as tables. A row is an address, its handler, and what /openapi.json says of it; every dialect keeps its rows
 * beside their nouns, and the functions here make routes of them.
 */
import type { Caller, KeyAuthority } from '../../contracts/ports/identity.js';
import { authenticate } from './auth.js';
import type { HttpRequest, Reply, Route, RouteDescription } from './port.js';
import { type Observation, type Observers, traced } from './trace-requests.js';

/** `parts`: what the dialect works with; `known`: who calls, or the request's observation, as the table is made into routes. */
export type Handler<Parts, Known> = (request: HttpRequest, parts: Parts, known: Known) => Promise<Reply>;

export interface Row<Parts, Known> extends Pick<Route, 'method' | 'path' | 'whileDraining'> {
  readonly handler: Handler<Parts, Known>;
  readonly description: RouteDescription;
}

/** Routes for callers with a key, which comes before all else. Errors: `missing_key`, `invalid_key`, `role_forbidden`. */
export const keyedRoutes = <Parts extends { readonly keys: KeyAuthority }>(
  rows: readonly Row<Parts, Caller>[],
  parts: Parts,
): Route[] =>
  rows.map(({ handler, ...row }) => ({
    ...row,
    handler: async (request) => handler(request, parts, await authenticate(request, parts.keys)),
  }));

/** Routes whose handlers see for themselves who calls, if that matters at all. */
export const openRoutes = <Parts>(rows: readonly Row<Parts, void>[], parts: Parts): Route[] =>
  rows.map(({ handler, ...row }) => ({ ...row, handler: (request) => handler(request, parts) }));

/** Routes below `base` with a trace around them; their handlers see for themselves who calls. */
export const tracedRoutes = <Parts extends Observers>(
  rows: readonly Row<Parts, Observation>[],
  parts: Parts,
  base = '',
): Route[] =>
  rows.map(({ handler, path: below, ...row }) => {
    const path = base + below;
    const observed = traced(path, parts, (request, observation) => handler(request, parts, observation));
    return { ...row, path, handler: observed };
  });
