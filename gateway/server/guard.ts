/**
 * The request-smuggling guard (issue 2, item 3). Both adapters pass every head through it before anything
 * else happens, and destroy the connection, with no reply, where it is not sound: two parsers that disagree
 * about such a request could be made to disagree about where the next one begins.
 *
 * What a head may hold is stricter than RFC 9112 where nobody needs the rest: one Host, one decimal
 * Content-Length or exactly `chunked`, a target in origin form, no control bytes, 64 KiB in all.
 */
import { LIMITS } from '../../contracts/limits.js';

const TARGET = /^\/[\x21\x22\x24-\x7e]*$/;
const METHOD = /^[A-Z]{1,16}$/;
const HOST = /^[A-Za-z0-9._~:[\]%-]{1,255}$/;
const LENGTH = /^[0-9]{1,15}$/;
// eslint-disable-next-line no-control-regex -- control bytes are what it looks for
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** `: ` and the line end around each header. */
const HEADER_OVERHEAD = 4;
/** The spaces, version and line end of the request line. */
const LINE_OVERHEAD = 12;

/** Collects one request's headers from the parser and judges them. */
export class RequestHead {
  readonly headers = new Map<string, string>();
  readonly path: string;
  readonly query: string;
  #bytes: number;
  #sound: boolean;
  #hosts = 0;
  #lengths = 0;
  #encodings = 0;

  /** `target` as it came, query included. */
  constructor(
    readonly method: string,
    target: string,
  ) {
    const mark = target.indexOf('?');
    this.path = mark < 0 ? target : target.slice(0, mark);
    this.query = mark < 0 ? '' : target.slice(mark + 1);
    this.#bytes = method.length + target.length + LINE_OVERHEAD;
    this.#sound = METHOD.test(method) && TARGET.test(target);
  }

  /** `name` in lower case. Repeated headers are joined as RFC 9110 section 5.3 says. */
  add(name: string, value: string): void {
    this.#bytes += name.length + value.length + HEADER_OVERHEAD;
    if (!NAME.test(name) || CONTROL.test(value)) this.#sound = false;
    if (name === 'host') this.#hosts += 1;
    else if (name === 'content-length') this.#lengths += 1;
    else if (name === 'transfer-encoding') this.#encodings += 1;
    const before = this.headers.get(name);
    this.headers.set(name, before === undefined ? value : before + (name === 'cookie' ? '; ' : ', ') + value);
  }

  /** False: destroy the connection. */
  get sound(): boolean {
    return (
      this.#sound && this.#bytes <= LIMITS.http.headerBytes && this.#hostIsSound() && this.#framingIsSound()
    );
  }

  /** Whether a body follows. Only to be asked of a sound head. */
  get hasBody(): boolean {
    return this.#encodings > 0 || (this.#lengths > 0 && this.contentLength !== 0);
  }

  get chunked(): boolean {
    return this.#encodings > 0;
  }

  /** The declared length in bytes; undefined where there is none. */
  get contentLength(): number | undefined {
    return this.#lengths === 0 ? undefined : Number(this.headers.get('content-length'));
  }

  /** Whether this is the handshake of a WebSocket (RFC 6455 section 4.2.1). */
  get isHandshake(): boolean {
    return this.method === 'GET' && this.headers.get('upgrade')?.toLowerCase() === 'websocket';
  }

  #hostIsSound(): boolean {
    return this.#hosts === 1 && HOST.test(this.headers.get('host') ?? '');
  }

  #framingIsSound(): boolean {
    if (this.#lengths + this.#encodings === 0) return true;
    if (this.#lengths + this.#encodings > 1 || this.isHandshake) return false;
    if (this.#encodings === 1) return this.headers.get('transfer-encoding') === 'chunked';
    return LENGTH.test(this.headers.get('content-length') ?? '');
  }
}
