/**
 * A client of MCP servers over streamable HTTP, as far as tools need it: initialize, tools/list, tools/call
 * (ops/adr/0029-mcp.md). Each request is one POST through the outbound guard, bounded in time and size.
 *
 * Invariants: the first request makes the handshake, and others share it; a session that the server has forgotten is
 * started again once; no other request is repeated.
 */
import { LIMITS } from '../../contracts/limits.js';
import type { ChatTool } from '../../contracts/ports/chat.js';
import {
  type McpAnswer,
  McpError,
  type McpServer,
  type McpTarget,
  type OpenMcp,
} from '../../contracts/ports/agents/mcp.js';
import type { Outbound, OutboundReply } from '../../contracts/ports/outbound.js';
import { answerOf, ReplyReader, toolsOf } from './mcp-replies.js';

/** Versions of the protocol in which a session begins with `initialize`, newest first. */
const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
const CLIENT = { name: 'speech-gateway', version: '1' };

const SESSION = 'mcp-session-id';
const VERSION = 'mcp-protocol-version';
/** Headers of the protocol, which the owner cannot set. */
const OURS = new Set(['accept', 'content-type', SESSION, VERSION]);
const POSTED = [
  ['content-type', 'application/json'],
  ['accept', 'application/json, text/event-stream'],
] as const;

/** Timeout of the request that ends a session; nobody waits for it. */
const FAREWELL_MS = 5000;

type Headers = McpTarget['headers'];

/** A session that has begun, and the headers that name it. */
interface Session {
  readonly headers: Headers;
  /** True if it has an id: the server may forget it, and is told when it ends. */
  readonly named: boolean;
}

const BEFORE: Session = { headers: [], named: false };

/** The server no longer knows the session. */
class SessionLost extends McpError {}

class Client implements McpServer {
  #requests = 0;
  #session: Promise<Session> | undefined;

  constructor(
    private readonly outbound: Outbound,
    private readonly target: McpTarget,
  ) {}

  async list(signal: AbortSignal): Promise<readonly ChatTool[]> {
    const tools: ChatTool[] = [];
    let page: object = {};
    for (let pages = 0; pages < LIMITS.mcp.pages && tools.length < LIMITS.mcp.tools; pages += 1) {
      const result = await this.#ask('tools/list', page, signal);
      tools.push(...toolsOf(result));
      const { nextCursor: cursor } = result;
      if (typeof cursor !== 'string') break;
      page = { cursor };
    }
    return tools.slice(0, LIMITS.mcp.tools);
  }

  async call(name: string, args: object, signal: AbortSignal): Promise<McpAnswer> {
    return answerOf(await this.#ask('tools/call', { name, arguments: args }, signal));
  }

  close(): void {
    void this.#session?.then(
      (session) => this.#leave(session),
      () => undefined,
    );
    this.#session = undefined;
  }

  async #leave({ headers, named }: Session): Promise<void> {
    if (!named) return;
    const { url } = this.target;
    const request = { method: 'DELETE', url, headers: [...this.#own, ...headers] } as const;
    await this.outbound.fetch({ ...request, timeoutMs: FAREWELL_MS, captureBytes: 0 }).catch(() => undefined);
  }

  async #ask(method: string, params: object, signal: AbortSignal) {
    const begun = this.#begun(signal);
    try {
      return await this.#request(await begun, method, params, signal);
    } catch (error) {
      if (!(error instanceof SessionLost)) throw error;
      if (this.#session === begun) this.#session = undefined;
      return this.#request(await this.#begun(signal), method, params, signal);
    }
  }

  /** The session, or the handshake for it. After a failed handshake, the next request makes another. */
  #begun(signal: AbortSignal): Promise<Session> {
    if (this.#session) return this.#session;
    const begun = this.#begin(signal);
    this.#session = begun;
    begun.catch(() => {
      if (this.#session === begun) this.#session = undefined;
    });
    return begun;
  }

  async #begin(signal: AbortSignal): Promise<Session> {
    const params = { protocolVersion: VERSIONS[0], capabilities: {}, clientInfo: CLIENT };
    const id = this.#next();
    const reader = new ReplyReader(id);
    const reply = await this.#post(BEFORE, { id, method: 'initialize', params }, signal, reader);
    const version = reader.resultOf(reply)['protocolVersion'];
    if (!VERSIONS.some((known) => known === version))
      throw new McpError('The server speaks another version of the protocol');
    const named = reply.headers[SESSION];
    const headers: Headers = [
      [VERSION, String(version)],
      ...(named === undefined ? [] : [[SESSION, named] as const]),
    ];
    const session = { headers, named: named !== undefined };
    await this.#post(session, { method: 'notifications/initialized' }, signal);
    return session;
  }

  async #request(session: Session, method: string, params: object, signal: AbortSignal) {
    const id = this.#next();
    const reader = new ReplyReader(id);
    const reply = await this.#post(session, { id, method, params }, signal, reader);
    if (reply.status === 404 && session.named) throw new SessionLost('The server has forgotten the session');
    return reader.resultOf(reply);
  }

  #post(
    session: Session,
    message: object,
    signal: AbortSignal,
    reader?: ReplyReader,
  ): Promise<OutboundReply> {
    return this.outbound.fetch({
      method: 'POST',
      url: this.target.url,
      headers: [...this.#own, ...session.headers, ...POSTED],
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      timeoutMs: this.target.timeoutMs,
      captureBytes: LIMITS.mcp.replyBytes,
      signal,
      ...(reader && { enough: reader.enough }),
    });
  }

  get #own(): Headers {
    return this.target.headers.filter(([name]) => !OURS.has(name.toLowerCase()));
  }

  #next(): number {
    return ++this.#requests;
  }
}

export const createMcp =
  (outbound: Outbound): OpenMcp =>
  (target) =>
    new Client(outbound, target);
