/** Answers requests that node:http cannot parse: finds the error, and writes the reply to the socket, without a response object. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ErrorCode, ServiceError } from '../../../contracts/errors.js';
import type { AdapterOptions } from './adapter.js';

export type ClientError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

/** Error codes of node:http's parser → ours; anything else is a malformed request. */
const UNREADABLE: Readonly<Record<string, ErrorCode>> = {
  HPE_INVALID_METHOD: 'unknown_method',
  HPE_INVALID_VERSION: 'http_version',
  HPE_HEADER_OVERFLOW: 'head_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/** Tells an unknown method from the first bytes of another protocol, which node also reports as an invalid method. */
const METHOD_AND_BLANK = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64} /;

export function faultOf({ code = '', rawPacket }: ClientError): ServiceError {
  const isMethod = METHOD_AND_BLANK.test(rawPacket?.toString('latin1', 0, 65) ?? '');
  const known = code === 'HPE_INVALID_METHOD' && !isMethod ? undefined : UNREADABLE[code];
  if (known !== undefined) return new ServiceError(known);
  return new ServiceError('invalid_request', { message: 'Malformed HTTP request' });
}

/** How long a client may keep sending, with nobody reading, so that it gets to read the reply. */
const LAST_WORDS_MS = 2000;

export function sayAndEnd(socket: Duplex, { head, body }: ReturnType<AdapterOptions['unreadable']>): void {
  const lines = [
    `HTTP/1.1 ${head.status} ${STATUS_CODES[head.status] ?? ''}`,
    ...head.headers.map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.removeAllListeners('data');
  socket.resume();
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
  const timer = setTimeout(() => socket.destroy(), LAST_WORDS_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}
