/** A language model that thinks for a time that is known, so that what is heard is the gateway's doing: an OpenAI-compatible server. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Model {
  /** With its /v1. */
  readonly url: string;
  stop(): Promise<void>;
}

export interface Message {
  readonly role: string;
  readonly content: string | null;
}

/** The answer to "count all the words", which takes long to speak; either word is enough, because a recogniser may mishear one. */
export const LONG = Array.from({ length: 60 }, (_, index) => `word number ${index + 10}`).join(', ');
const SHORT = 'At nine in the morning.';

/** What it answers to the messages of a request. */
export type Answering = (messages: readonly Message[]) => string;

const answerToWords: Answering = (messages) => {
  const said = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  return /\b(?:count|word)s?\b/i.test(said) ? LONG : SHORT;
};

function eventsOf(text: string): string {
  const chunks = text.split(/(?<= )/).map((content) => ({ choices: [{ delta: { content } }] }));
  return `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`;
}

/** Its first token, and all others with it, come after so many milliseconds. */
export async function startModel(firstTokenMs = 0, answerTo: Answering = answerToWords): Promise<Model> {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      // Some clients look for its models before they ask anything.
      if (request.method !== 'POST') return void response.end('{"data":[]}');
      const { messages } = JSON.parse(body) as { messages: readonly Message[] };
      const events = eventsOf(answerTo(messages));
      setTimeout(() => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events);
      }, firstTokenMs);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
