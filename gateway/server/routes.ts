/**
 * Tables of routes. A row holds method, path, permission, handler, and the description for /openapi.json; dialects keep
 * the rows in the files of their nouns, and the functions here turn them into routes.
 */
import type { Caller, KeyAuthority } from '../../contracts/ports/accounts/identity.js';
import { authenticate } from './auth.js';
import type { HttpRequest, Reply, Route, RouteDescription } from './port.js';
import { type Observation, type Observers, traced } from './tracing/trace-requests.js';

/** `parts`: the ports of the dialect; `known`: the caller or the request's observation, depending on the function below. */
export type RouteHandler<Parts, Known> = (request: HttpRequest, parts: Parts, known: Known) => Promise<Reply>;

export interface RouteRow<Parts, Known> extends Pick<
  Route,
  'method' | 'path' | 'permission' | 'whileDraining' | 'audit'
> {
  readonly handler: RouteHandler<Parts, Known>;
  readonly description: RouteDescription;
}

/** The rows of one noun: `/openapi.json` shows their routes under this tag. */
export const tagged = <Row extends { readonly description: RouteDescription }>(
  tag: string,
  rows: readonly Row[],
): readonly Row[] => rows.map((row) => ({ ...row, description: { tags: [tag], ...row.description } }));

/** Routes that need a key, which is checked before anything else. Errors: `missing_key`, `invalid_key`, `role_forbidden`. */
export const keyedRoutes = <Parts extends { readonly keys: KeyAuthority }>(
  rows: readonly RouteRow<Parts, Caller>[],
  parts: Parts,
): Route[] =>
  rows.map(({ handler, ...row }) => ({
    ...row,
    handler: async (request) => handler(request, parts, await authenticate(request, parts.keys)),
  }));

/** Routes whose handlers identify the caller themselves, if they need to. */
export const openRoutes = <Parts>(rows: readonly RouteRow<Parts, void>[], parts: Parts): Route[] =>
  rows.map(({ handler, ...row }) => ({ ...row, handler: (request) => handler(request, parts) }));

/** Traced routes below `base`, whose handlers identify the caller themselves. */
export const tracedRoutes = <Parts extends Observers>(
  rows: readonly RouteRow<Parts, Observation>[],
  parts: Parts,
  base = '',
): Route[] =>
  rows.map(({ handler, path: below, ...row }) => {
    const path = base + below;
    const observed = traced(path, parts, (request, observation) => handler(request, parts, observation));
    return { ...row, path, handler: observed };
  });
