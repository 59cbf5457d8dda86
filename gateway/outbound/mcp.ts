/**
 * A client of MCP servers over streamable HTTP, as far as tools need it: initialize, tools/list, tools/call
 * (ops/adr/0029-mcp.md). Each request is one POST through the outbound guard, bounded in time and size.
 *
 * Invariants: the first request makes the handshake, and others share it; a named session that the server refuses, whatever
 * the status, is started again once; no other request is repeated. A stream that breaks off before its answer is resumed by
 * the id of its last event, which repeats nothing.
 */
import { type Clock, systemClock } from '../../contracts/clock.js';
import { LIMITS } from '../../contracts/limits.js';
import type { ChatTool } from '../../contracts/ports/chat.js';
import { isPlainObject } from '../../contracts/schemas/plain-object.js';
import {
  type McpAnswer,
  MCP_KEY,
  McpError,
  type McpServer,
  type McpTarget,
  McpUnanswered,
  type OpenMcp,
} from '../../contracts/ports/agents/mcp.js';
import type { Outbound, OutboundReply } from '../../contracts/ports/outbound.js';
import { answerOf, ReplyReader, toolsOf } from './mcp-replies.js';
import { pauseOf, watchTools } from './mcp-streams.js';

/** Versions of the protocol in which a session begins with `initialize`, newest first. */
const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
const CLIENT = { name: 'speech-gateway', version: '1' };

const SESSION = 'mcp-session-id';
const VERSION = 'mcp-protocol-version';
/** Headers of the protocol, which the owner cannot set. */
const OURS = new Set(['accept', 'content-type', 'last-event-id', SESSION, VERSION]);
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
  /** Aborted when the session is over. */
  readonly over: AbortController;
}

const BEFORE: Pick<Session, 'headers'> = { headers: [] };

/** The server refuses the session: it was deployed anew, or has forgotten it. */
class SessionLost extends McpError {}

class Client implements McpServer {
  #requests = 0;
  #session: Promise<Session> | undefined;

  constructor(
    private readonly outbound: Outbound,
    private readonly target: McpTarget,
    private readonly clock: Clock,
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

  async call(name: string, args: object, signal: AbortSignal, key?: string): Promise<McpAnswer> {
    const meta = key === undefined ? {} : { _meta: { [MCP_KEY]: key } };
    return answerOf(await this.#ask('tools/call', { name, arguments: args, ...meta }, signal));
  }

  close(): void {
    void this.#session?.then(
      (session) => this.#leave(session),
      () => undefined,
    );
    this.#session = undefined;
  }

  async #leave({ headers, named, over }: Session): Promise<void> {
    over.abort();
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
      (await begun).over.abort();
      const session = await this.#begun(signal);
      this.target.mended?.('session');
      this.target.changed?.();
      return this.#request(session, method, params, signal);
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
    reader.take(reply);
    const { protocolVersion: version, capabilities } = reader.resultOf(reply);
    if (!VERSIONS.some((known) => known === version))
      throw new McpError('The server speaks another version of the protocol');
    const named = reply.headers[SESSION];
    const headers: Headers = [
      [VERSION, String(version)],
      ...(named === undefined ? [] : [[SESSION, named] as const]),
    ];
    const session = { headers, named: named !== undefined, over: new AbortController() };
    await this.#post(session, { method: 'notifications/initialized' }, signal);
    this.#watch(session, capabilities);
    return session;
  }

  /** Listens for changes of the tools, if the server says that it tells them and somebody wants to know. */
  #watch(session: Session, capabilities: unknown): void {
    const { changed } = this.target;
    const { tools } = isPlainObject(capabilities) ? capabilities : { tools: undefined };
    if (!changed || !isPlainObject(tools) || tools['listChanged'] !== true) return;
    const listen = (reader: ReplyReader) =>
      this.#listen(session, reader, session.over.signal, LIMITS.mcp.watchMs);
    void watchTools({ listen, changed, clock: this.clock, signal: session.over.signal });
  }

  async #request(session: Session, method: string, params: object, signal: AbortSignal) {
    const id = this.#next();
    const reader = new ReplyReader(id);
    const reply = await this.#answered(session, { id, method, params }, reader, signal);
    reader.take(reply);
    const { status } = reply;
    if (status >= 400 && status < 500 && session.named) throw sessionLost(reader, reply);
    if (reader.toolsChanged) this.target.changed?.();
    return reader.resultOf(reply);
  }

  /** The reply, if need be after its stream was resumed. Errors: those of the last try. */
  async #answered(session: Session, message: object, reader: ReplyReader, signal: AbortSignal) {
    const until = this.clock.monotonic() + this.target.timeoutMs;
    let ask = (): Promise<OutboundReply> => this.#post(session, message, signal, reader);
    for (let resumed = 0; ; resumed += 1) {
      const reply = await ask().catch((error: unknown) => {
        if (reader.lastEventId === undefined || resumed === LIMITS.mcp.resumes) throw error;
      });
      const isOver = reader.hasAnswer || reader.lastEventId === undefined || resumed === LIMITS.mcp.resumes;
      if (reply && (isOver || reply.truncated)) return reply;
      await pauseOf(reader, this.clock, signal);
      const left = until - this.clock.monotonic();
      if (left <= 0) throw new McpUnanswered('The server broke its answer off', { isLate: true });
      this.target.mended?.('stream');
      ask = () => this.#listen(session, reader, signal, left);
    }
  }

  /** A stream of the server's messages, from behind the last event that the reader has seen. */
  #listen(
    session: Session,
    reader: ReplyReader,
    signal: AbortSignal,
    timeoutMs: number,
  ): Promise<OutboundReply> {
    reader.resumed();
    const { lastEventId } = reader;
    const from = lastEventId === undefined ? [] : [['last-event-id', lastEventId] as const];
    return this.outbound.fetch({
      method: 'GET',
      url: this.target.url,
      headers: [...this.#own, ...session.headers, ['accept', 'text/event-stream'], ...from],
      timeoutMs,
      captureBytes: LIMITS.mcp.replyBytes,
      signal,
      enough: reader.enough,
    });
  }

  #post(
    session: Pick<Session, 'headers'>,
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

/** The refusal, with what the server says of it. */
function sessionLost(reader: ReplyReader, reply: OutboundReply): SessionLost {
  try {
    reader.resultOf(reply);
  } catch (error) {
    if (error instanceof McpError) return new SessionLost(error.message);
  }
  return new SessionLost(`The server answered HTTP ${reply.status}`);
}

export const createMcp =
  (outbound: Outbound, clock: Clock = systemClock): OpenMcp =>
  (target) =>
    new Client(outbound, target, clock);
