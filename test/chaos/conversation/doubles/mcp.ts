/**
 * An MCP server over streamable HTTP with sessions, lists that change, and streams that can be resumed, in the manner of the official
 * SDK's example. It counts its orders. Its faults can be switched, for each call (the end of the address) or for all.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { MCP_KEY } from '../../../../contracts/ports/agents/mcp.js';
import { remoteService } from '../../../fixtures/engines/remote-service.js';
import { HTTP_FAULTS, type HttpFault, isHttpFault } from './http.js';
import { ORDER } from './model.js';
import { Switch } from './switch.js';

/** `dead stream`: the answer's stream ends before the answer, which comes when it is resumed; `lost stream`: it never comes. */
export type McpFault = HttpFault | 'dead stream' | 'lost stream';

/** The tool that it offers after a change. */
export const LATER = 'Deliver';

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly _meta?: Readonly<Record<string, unknown>> };
}

/** What the server keeps for one call. */
class Shop {
  readonly sessions = new Set<string>();
  readonly orders: string[] = [];
  readonly tools = [ORDER];
  /** Clients that wait for changes. */
  readonly listeners = new Set<ServerResponse>();
  /** Answers that were not sent, by the ids of the events before them. */
  readonly owed = new Map<string, object>();
}

export interface McpDouble {
  /** Followed by the name of the call. */
  readonly url: string;
  readonly faults: Switch<McpFault>;
  /** Forgets all sessions, as a server that is started again. */
  restart(call?: string): void;
  /** Offers another tool from now on, and says so. */
  change(call?: string): void;
  /** The idempotency keys of a call's orders, one for each request. */
  ordersOf(call: string): readonly string[];
}

const SESSION = 'mcp-session-id';
/** Milliseconds after which a broken stream is asked for again. */
const RETRY_MS = 200;

const json = (response: ServerResponse, message: object, headers: object = {}): void =>
  void response
    .writeHead(200, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify({ jsonrpc: '2.0', ...message }));

const streamed = (message: object): string => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;

const toolOf = (name: string) => ({
  name,
  description: `${name} what was asked for`,
  inputSchema: { type: 'object' },
});

const RESULTS: Readonly<Record<string, (shop: Shop, message: Message) => object>> = {
  initialize: () => ({
    protocolVersion: '2025-06-18',
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'shop', version: '1' },
  }),
  'tools/list': ({ tools }) => ({ tools: tools.map(toolOf) }),
  'tools/call': ({ orders }, { params }) => {
    orders.push(String(params?._meta?.[MCP_KEY] ?? ''));
    return { content: [{ type: 'text', text: 'ordered' }] };
  },
};

/** As the SDK's example refuses a session that it does not know. */
const refuse = (response: ServerResponse): void => {
  const error = { code: -32_000, message: 'Bad Request: No valid session ID provided' };
  response.writeHead(400, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
};

function dies(shop: Shop, response: ServerResponse, answer: object, isLost: boolean): void {
  const event = randomUUID();
  if (!isLost) shop.owed.set(event, answer);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`id: ${event}\nretry: ${RETRY_MS}\ndata: \n\n`, () => response.destroy());
}

/** A stream that the client asks for: of an answer that it is owed, or of changes. */
function listen(shop: Shop, response: ServerResponse, { headers }: IncomingMessage): void {
  const event = String(headers['last-event-id'] ?? '');
  const owed = shop.owed.get(event);
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  if (owed) return void response.end(streamed(owed));
  shop.listeners.add(response);
  response.on('close', () => shop.listeners.delete(response));
}

function post(shop: Shop, response: ServerResponse, message: Message, fault: McpFault | undefined): void {
  const { id, method } = message;
  const result = RESULTS[method]?.(shop, message);
  if (id === undefined || !result) return void response.writeHead(202).end();
  const answer = { id, result };
  if (method === 'tools/call' && (fault === 'dead stream' || fault === 'lost stream'))
    return dies(shop, response, answer, fault === 'lost stream');
  if (method !== 'initialize') return json(response, answer);
  const session = randomUUID();
  shop.sessions.add(session);
  return json(response, answer, { [SESSION]: session });
}

export async function startMcpDouble(t: { teardown(end: () => void): void }): Promise<McpDouble> {
  const service = await remoteService(t);
  const faults = new Switch<McpFault>();
  const shops = new Map<string, Shop>();
  const shopOf = (call: string): Shop => {
    const shop = shops.get(call) ?? new Shop();
    shops.set(call, shop);
    return shop;
  };
  const meant = (call: string | undefined): Iterable<Shop> =>
    call === undefined ? shops.values() : [shopOf(call)];
  service.answers((response, body, request) => {
    const call = request.url?.split('/').at(-1) ?? '';
    const shop = shopOf(call);
    const fault = faults.of(call);
    if (isHttpFault(fault)) return HTTP_FAULTS[fault](response);
    const message = (body.length > 0 ? JSON.parse(body.toString()) : { method: request.method }) as Message;
    const isKnown = shop.sessions.has(String(request.headers[SESSION] ?? ''));
    if (message.method !== 'initialize' && !isKnown) return refuse(response);
    if (request.method === 'DELETE') return void response.writeHead(200).end();
    if (request.method === 'GET') return listen(shop, response, request);
    return post(shop, response, message, fault);
  });
  return {
    url: `${service.url}/mcp`,
    faults,
    restart(call) {
      for (const { sessions, listeners } of meant(call)) {
        sessions.clear();
        for (const listener of listeners) listener.destroy();
      }
    },
    change(call) {
      for (const { tools, listeners } of meant(call)) {
        tools.push(LATER);
        for (const listener of listeners)
          listener.write(streamed({ method: 'notifications/tools/list_changed' }));
      }
    },
    ordersOf: (call) => shopOf(call).orders,
  };
}
