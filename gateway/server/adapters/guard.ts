/**
 * The request-smuggling guard. Both adapters pass every head through it before anything else happens, and destroy
 * the connection without a reply if it is ambiguous: two parsers that disagree about such a request could be made to
 * disagree about where the next one begins. A head that is unambiguous but not acceptable is refused with a reply
 * that ends the connection.
 *
 * Heads are limited more strictly than by RFC 9112, to what clients need: one Host, one decimal Content-Length or
 * exactly `chunked`, a target in origin form or in absolute form with the same host, no control bytes, 64 KiB in all.
 */
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';

const TARGET = /^\/[\x21\x22\x24-\x7e]*$/;
/** Absolute form, as sent to proxies; every server has to accept it (RFC 9112 section 3.2.2). */
const ABSOLUTE = /^https?:\/\/([^/?]*)\/?(.*)$/is;
const METHOD = /^[A-Z]{1,16}$/;
const HOST = /^[A-Za-z0-9._~:[\]%-]{1,255}$/;
const LENGTH = /^[0-9]{1,15}$/;
// oxlint-disable-next-line no-control-regex -- control bytes are what it looks for
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** `: ` and the line end around each header. */
const HEADER_OVERHEAD = 4;
/** The spaces, version and line end of the request line. */
const LINE_OVERHEAD = 12;

const invalid = (message: string): ServiceError => new ServiceError('invalid_request', { message });

/** Collects one request's headers from the parser and judges them. */
export class RequestHead {
  readonly headers = new Map<string, string>();
  readonly path: string;
  readonly query: string;
  /** The host of a target in absolute form. */
  readonly #authority: string | undefined;
  readonly #targetIsSound: boolean;
  #bytes: number;
  #fieldsAreSound = true;
  #hosts = 0;
  #lengths = 0;
  #encodings = 0;

  /** `target`: unchanged, with its query; `version`: of HTTP. */
  constructor(
    readonly method: string,
    target: string,
    readonly version: '1.0' | '1.1' = '1.1',
  ) {
    const [, authority, below = ''] = ABSOLUTE.exec(target) ?? [];
    const origin = authority === undefined ? target : `/${below}`;
    const mark = origin.indexOf('?');
    this.path = mark < 0 ? origin : origin.slice(0, mark);
    this.query = mark < 0 ? '' : origin.slice(mark + 1);
    this.#authority = authority;
    this.#targetIsSound = TARGET.test(origin);
    this.#bytes = method.length + target.length + LINE_OVERHEAD;
  }

  /** `name`: in lower case. Repeated headers are joined as in RFC 9110 section 5.3. */
  add(name: string, value: string): void {
    this.#bytes += name.length + value.length + HEADER_OVERHEAD;
    if (!NAME.test(name) || CONTROL.test(value)) this.#fieldsAreSound = false;
    if (name === 'host') this.#hosts += 1;
    else if (name === 'content-length') this.#lengths += 1;
    else if (name === 'transfer-encoding') this.#encodings += 1;
    const before = this.headers.get(name);
    this.headers.set(name, before === undefined ? value : before + (name === 'cookie' ? '; ' : ', ') + value);
  }

  /** Whether another parser could read the head differently, so that the connection must be destroyed. */
  get isAmbiguous(): boolean {
    return !this.#fieldsAreSound || !this.#framingIsSound();
  }

  /** Why an unambiguous head is refused, if it is; its connection ends with the reply. */
  get refusal(): ServiceError | undefined {
    if (this.#bytes > LIMITS.http.headerBytes) return new ServiceError('head_too_large');
    if (!METHOD.test(this.method)) return new ServiceError('unknown_method');
    if (!this.#targetIsSound) return invalid('The request target is malformed');
    return this.#hostIsSound() ? undefined : invalid('The Host header is missing, malformed or contradicted');
  }

  /** Whether a body follows. Not valid for an ambiguous head. */
  get hasBody(): boolean {
    return this.#encodings > 0 || (this.#lengths > 0 && this.contentLength !== 0);
  }

  get chunked(): boolean {
    return this.#encodings > 0;
  }

  /** The declared length in bytes; undefined if there is none. */
  get contentLength(): number | undefined {
    return this.#lengths === 0 ? undefined : Number(this.headers.get('content-length'));
  }

  /** Whether this is the handshake of a WebSocket (RFC 6455 section 4.2.1). */
  get isHandshake(): boolean {
    return this.method === 'GET' && this.headers.get('upgrade')?.toLowerCase() === 'websocket';
  }

  #hostIsSound(): boolean {
    const host = this.headers.get('host') ?? '';
    const agrees = this.#authority === undefined || this.#authority.toLowerCase() === host.toLowerCase();
    return this.#hosts === 1 && HOST.test(host) && agrees;
  }

  #framingIsSound(): boolean {
    if (this.#lengths + this.#encodings === 0) return true;
    if (this.#lengths + this.#encodings > 1 || this.isHandshake) return false;
    // An HTTP/1.0 proxy may not know chunked encoding.
    if (this.#encodings === 1)
      return this.version === '1.1' && this.headers.get('transfer-encoding') === 'chunked';
    return LENGTH.test(this.headers.get('content-length') ?? '');
  }
}
