/** Requests over HTTP with the instants at which their bytes came. */
import { Agent, request } from 'undici';
import type { Timeline } from '../audio/player.js';

export interface HttpAnswer {
  readonly status: number;
  readonly type: string;
  readonly timeline: Timeline;
  readonly body: Buffer;
  /** When the last byte had come. */
  readonly end: number;
}

export interface HttpRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE' | 'PATCH';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** A connection a request at once, kept for the next one. */
export class HttpClient {
  readonly #agent = new Agent({
    connections: null,
    pipelining: 1,
    keepAliveTimeout: 60_000,
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  async send({ method = 'POST', url, headers, body }: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const answer = await request(url, {
      method,
      headers: { ...headers },
      body: body ?? null,
      signal,
      dispatcher: this.#agent,
    });
    const timeline: [number, number][] = [];
    const chunks: Buffer[] = [];
    let total = 0;
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      total += chunk.length;
      chunks.push(chunk);
      timeline.push([performance.now(), total]);
    }
    const type = String(answer.headers['content-type'] ?? '');
    const whole = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    return { status: answer.statusCode, type, timeline, body: whole, end: performance.now() };
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

/** A failure's name by the status. */
export const refusalOf = ({ status }: { readonly status: number }): string | undefined =>
  status >= 200 && status < 300 ? undefined : `HTTP ${status}`;
