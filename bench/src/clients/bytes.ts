/** Requests whose answer is only read, and has to be a success with a body. */
import type { Client } from './client.js';
import { HttpClient, type HttpRequest, refusalOf } from './http.js';

export interface BytesParams {
  readonly request: HttpRequest;
}

export function createBytes({ request }: BytesParams): Client {
  const http = new HttpClient();
  return {
    async perform(_index, signal) {
      const { body, ...answer } = await http.send(request, signal);
      const failure = refusalOf(answer) ?? (body.length === 0 ? 'an empty answer' : undefined);
      return () => (failure === undefined ? { instants: { e2e: answer.end } } : { failure });
    },
    close: () => http.close(),
  };
}
