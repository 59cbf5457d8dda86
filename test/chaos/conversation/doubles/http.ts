/** Faults that every HTTP server can have. */
import type { ServerResponse } from 'node:http';

type Wrong = (response: ServerResponse) => void;

const fails =
  (status: number): Wrong =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');

export const HTTP_FAULTS = {
  '401': fails(401),
  '404': fails(404),
  '429': fails(429),
  '500': fails(500),
  /** Takes the request, and closes the connection. */
  drops: (response) => void response.destroy(),
  /** Takes the request, and says nothing. */
  hangs: () => undefined,
} as const satisfies Record<string, Wrong>;

export type HttpFault = keyof typeof HTTP_FAULTS;

export const isHttpFault = (fault: string | undefined): fault is HttpFault =>
  fault !== undefined && Object.hasOwn(HTTP_FAULTS, fault);
