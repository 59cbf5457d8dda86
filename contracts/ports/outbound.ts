/**
 * Requests to addresses that an account owner wrote: tools and webhooks (docs/contract/platform.md 6.5 rule 9;
 * docs/contract/decisions.md 8). Private addresses are refused: at save time by the address as written, and at call time
 * by every address that a connection would go to, on every redirect.
 */

export interface OutboundRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  /** In order, as stored. Headers of the connection itself (`host`, `content-length` …) are refused. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Uint8Array;
  /** Total time: look-up, redirects and the whole response. */
  readonly timeoutMs: number;
  /** Bytes of the response body that are kept; the rest is not read. */
  readonly captureBytes: number;
  /** Called with each piece of the body and the response's headers; if it returns true, the rest is not read. */
  readonly enough?: (piece: Uint8Array, headers: OutboundReply['headers']) => boolean;
  /** Most redirects to follow; default 3. With 0 a redirect is a reply like any other. */
  readonly redirects?: number;
  readonly signal?: AbortSignal;
}

export interface OutboundReply {
  readonly status: number;
  /** Lower-case names; repeated headers joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** As it was before a `content-encoding` of gzip, deflate or br. */
  readonly body: Uint8Array;
  /** Whether the body was longer than `captureBytes`. */
  readonly truncated: boolean;
  readonly latencyMs: number;
}

/** Headers that belong to the connection, so no stored header may set them. */
export const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'connection', 'content-length', 'expect', 'host', 'http2-settings', 'keep-alive', 'proxy-authenticate',
  'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade',
]); // oxfmt-ignore

/** Why there is no reply. */
export type OutboundFailure =
  /** The address, a header, or an address that the name resolves to may not be used. */
  | 'refused'
  /** The name does not resolve. */
  | 'unresolved'
  /** No connection, or it broke. */
  | 'unreachable'
  | 'timeout'
  | 'too_many_redirects';

/** Its message may be shown to the owner of the address: it names no address that the owner did not write. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';

  constructor(
    readonly failure: OutboundFailure,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export interface Outbound {
  /**
   * Why the address as written may not be used, as the end of a sentence ("must not …"); undefined if it may. `https`: http only for what
   * the operator has allowed.
   */
  checkUrl(url: string, wanted?: { readonly https: boolean }): string | undefined;
  /** Any HTTP status is a reply. Errors: `OutboundError`; the signal's reason if it was aborted. */
  fetch(request: OutboundRequest): Promise<OutboundReply>;
}
