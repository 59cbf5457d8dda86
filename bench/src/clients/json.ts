/** Requests whose answer is JSON. */
import type { Client } from './client.js';
import { HttpClient, type HttpRequest, refusalOf } from './http.js';

export interface JsonParams {
  readonly request: HttpRequest;
  /** A field that the answer has to have. */
  readonly field: string;
}

export function createJson({ request, field }: JsonParams): Client {
  const http = new HttpClient();
  return {
    async perform(_index, signal) {
      const answer = await http.send(request, signal);
      return () => {
        const failure =
          refusalOf(answer) ?? (hasField(answer.body, field) ? undefined : `an answer without ${field}`);
        return failure === undefined ? { instants: { e2e: answer.end } } : { failure };
      };
    },
    close: () => http.close(),
  };
}

function hasField(body: Buffer, field: string): boolean {
  try {
    return field in (JSON.parse(body.toString()) as object);
  } catch {
    return false;
  }
}
