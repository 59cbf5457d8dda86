/**
 * Finds the route of a method and an undecoded path, in a trie over segments. `{name}` matches one non-empty segment,
 * `{name?}` also an empty one or, at the end, a missing one; no other empty segment or trailing slash matches
 * unless a route declares it. A literal segment wins over a parameter. Parameters are decoded after the match,
 * so that `%2F` never makes a segment. A path without a route belongs to the dialect with the longest matching prefix.
 */
import { ServiceError } from '../../contracts/errors.js';
import type { Permission } from '../../contracts/permissions.js';
import type { Dialect, HttpHandler, Route, SocketRoute, WhileDraining } from './port.js';

export interface Endpoint {
  readonly dialect: Dialect;
  readonly pattern: string;
  readonly parameters: readonly string[];
  readonly permission: Permission;
  /** Absent on a socket. */
  readonly handler?: HttpHandler;
  /** True: pages of other origins may not read it. */
  readonly sameOriginOnly?: boolean;
  /** As in `Route`. */
  readonly whileDraining?: WhileDraining;
  readonly beginsCalls?: boolean;
  readonly socket?: SocketRoute;
}

export type Match =
  | { readonly endpoint: Endpoint; readonly values: readonly string[] }
  /** No route has that method; `allowed` is empty if none has the path either. */
  | {
      readonly endpoint?: undefined;
      readonly dialect: Dialect;
      readonly allowed: readonly string[];
      /** The pattern of the route that the client has probably meant. */
      readonly meant?: string;
    };

/** The method under which sockets are stored in the trie. */
export const SOCKET = 'SOCKET';

interface Branch {
  readonly literals: Map<string, Branch>;
  required?: Branch;
  optional?: Branch;
  readonly endpoints: Map<string, Endpoint>;
}

interface Search {
  readonly segments: readonly string[];
  readonly method: string;
  readonly values: string[];
  readonly allowed: Set<string>;
}

const branch = (): Branch => ({ literals: new Map(), endpoints: new Map() });
const PARAMETER = /^\{(\w+)(\??)\}$/;

function childOf(parent: Branch, segment: string): Branch {
  const parameter = PARAMETER.exec(segment);
  if (parameter) return parameter[2] ? (parent.optional ??= branch()) : (parent.required ??= branch());
  const known = parent.literals.get(segment);
  if (known) return known;
  const created = branch();
  parent.literals.set(segment, created);
  return created;
}

function file(at: Branch, method: string, endpoint: Endpoint): void {
  if (at.endpoints.has(method)) throw new Error(`Two routes answer ${method} ${endpoint.pattern}`);
  at.endpoints.set(method, endpoint);
}

/** The path without what clients add whose base address ends with a slash, or with a `/v1` that they add as well. */
const intended = (path: string): string =>
  path.replace(/\/{2,}/g, '/').replace(/\/v1(?:\/v1)+(?=\/|$)/, '/v1');

/** A client whose base address ends with a slash, or with a `/v1` too many, is told so. */
export const unknownPath = (meant: string | undefined): ServiceError =>
  new ServiceError(
    'not_found',
    meant === undefined
      ? {}
      : { message: `Not found. The route is ${meant}: see whether the base address ends with "/" or "/v1"` },
  );

const covers = (prefix: string, path: string): boolean =>
  path.startsWith(prefix) &&
  (prefix.endsWith('/') || path.length === prefix.length || path[prefix.length] === '/');

export class Router {
  readonly #root = branch();
  /** Routes without parameters by method, then path: nothing else can win over them. */
  readonly #literals = new Map<string, Map<string, Match>>();
  readonly #prefixes: readonly { readonly prefix: string; readonly dialect: Dialect }[];
  #depth = 0;

  /** `fallback` answers paths below no dialect's prefix. Throws if two routes collide. */
  constructor(
    dialects: readonly Dialect[],
    private readonly fallback: Dialect,
  ) {
    for (const dialect of [fallback, ...dialects]) this.#addDialect(dialect);
    this.#prefixes = dialects
      .flatMap((dialect) => dialect.prefixes.map((prefix) => ({ prefix, dialect })))
      .sort((a, b) => b.prefix.length - a.prefix.length);
  }

  find(method: string, path: string): Match {
    return this.#literals.get(method)?.get(path) ?? this.#search(method, path);
  }

  #search(method: string, path: string): Match {
    const { endpoint, values, allowed } = this.#look(method, path);
    if (endpoint) return { endpoint, values };
    const meant = allowed.size === 0 ? this.#meant(method, path) : undefined;
    if (meant) return { dialect: meant.dialect, allowed: [], meant: meant.pattern };
    return { dialect: this.dialectOf(path), allowed: [...allowed] };
  }

  #look(method: string, path: string): Search & { readonly endpoint: Endpoint | undefined } {
    // One segment more than the longest route is enough to see that nothing matches.
    const segments = path.slice(1).split('/', this.#depth + 1);
    const search: Search = { segments, method, values: [], allowed: new Set() };
    return { ...search, endpoint: this.#walk(this.#root, 0, search) };
  }

  #meant(method: string, path: string): Endpoint | undefined {
    const meant = intended(path);
    return meant === path ? undefined : this.#look(method, meant).endpoint;
  }

  /** The dialect whose error format is used for a path without a route. */
  dialectOf(path: string): Dialect {
    return this.#prefixes.find(({ prefix }) => covers(prefix, path))?.dialect ?? this.fallback;
  }

  #addDialect(dialect: Dialect): void {
    for (const route of dialect.routes) this.#addRoute(dialect, route);
    for (const socket of dialect.sockets ?? []) this.#addSocket(dialect, socket);
  }

  #addRoute(
    dialect: Dialect,
    {
      method,
      path,
      permission,
      handler,
      sameOriginOnly = false,
      whileDraining = false,
      beginsCalls = false,
    }: Route,
  ): void {
    this.#add(method, path, { dialect, permission, handler, sameOriginOnly, whileDraining, beginsCalls });
  }

  #addSocket(dialect: Dialect, socket: SocketRoute): void {
    const { path, permission, whileDraining = false } = socket;
    this.#add(SOCKET, path, { dialect, permission, socket, whileDraining });
  }

  #add(method: string, pattern: string, target: Omit<Endpoint, 'pattern' | 'parameters'>): void {
    const segments = pattern.slice(1).split('/');
    const parameters = segments.flatMap((segment) => PARAMETER.exec(segment)?.[1] ?? []);
    const endpoint: Endpoint = { ...target, pattern, parameters };
    const parent = segments.slice(0, -1).reduce(childOf, this.#root);
    const last = segments.at(-1) ?? '';
    file(childOf(parent, last), method, endpoint);
    if (PARAMETER.exec(last)?.[2]) file(parent, method, endpoint);
    if (parameters.length === 0) this.#addLiteral(method, endpoint);
    this.#depth = Math.max(this.#depth, segments.length);
  }

  #addLiteral(method: string, endpoint: Endpoint): void {
    const paths = this.#literals.get(method) ?? new Map<string, Match>();
    this.#literals.set(method, paths.set(endpoint.pattern, { endpoint, values: [] }));
  }

  #walk(at: Branch, index: number, search: Search): Endpoint | undefined {
    if (index === search.segments.length) return this.#leaf(at, search);
    const segment = search.segments[index] ?? '';
    const literal = at.literals.get(segment);
    return (
      (literal && this.#walk(literal, index + 1, search)) ??
      (segment === '' ? undefined : this.#descend(at.required, segment, index, search)) ??
      this.#descend(at.optional, segment, index, search)
    );
  }

  #descend(to: Branch | undefined, value: string, index: number, search: Search): Endpoint | undefined {
    if (!to) return undefined;
    search.values.push(value);
    const found = this.#walk(to, index + 1, search);
    if (!found) search.values.pop();
    return found;
  }

  #leaf(at: Branch, search: Search): Endpoint | undefined {
    for (const method of at.endpoints.keys()) search.allowed.add(method);
    return at.endpoints.get(search.method);
  }
}

function decode(name: string, value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw new ServiceError('invalid_request', {
      message: `Malformed percent-encoding in ${name}`,
      param: name,
    });
  }
}

/** The path parameters, decoded. Errors: `invalid_request`. */
export function parametersOf(endpoint: Endpoint, values: readonly string[]): Record<string, string> {
  const decoded = endpoint.parameters.map((name, index) => [name, decode(name, values[index] ?? '')]);
  return Object.fromEntries(decoded) as Record<string, string>;
}

/** `Allow` of a path that takes other methods. Errors: `invalid_request` if it takes handshakes only. */
export function allowHeader(allowed: readonly string[]): string {
  const methods = allowed.filter((method) => method !== SOCKET);
  if (methods.length === 0)
    throw new ServiceError('invalid_request', { message: 'This address takes WebSocket handshakes only' });
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
}
