/** What goes wrong around a conversation though it goes on, as lines of the log: each names its part. */
import type { Log } from '../../../contracts/log.js';
import type { ChatMeterParts } from './metered-chat.js';

const REMARKS = {
  cut: ['model', 'a language model broke its answer off'],
  window: ['model', 'a conversation has outgrown the language model’s window: it is told less of it'],
  asText: ['model', 'a language model writes its tool calls as text: let its server parse them'],
  toolFailed: ['tool', 'a tool failed somebody on the line'],
  toolSlow: ['tool', 'a tool kept somebody on the line waiting'],
  toolCut: ['tool', 'a tool answered more than is taken'],
  mcpFailed: ['mcp', 'an MCP server failed somebody on the line'],
  mcpSlow: ['mcp', 'an MCP server kept somebody on the line waiting'],
  mcpCut: ['mcp', 'an MCP server answered more than is taken'],
  mcpLost: ['mcp', 'an MCP server has forgotten the session: another one was begun'],
  mcpResumed: ['mcp', 'a stream of an MCP server broke off and was resumed'],
  mcpChanged: ['mcp', 'an MCP server offers other tools'],
} as const satisfies Readonly<Record<string, readonly [part: string, line: string]>>;

export type Remark = keyof typeof REMARKS;

/** `fields`: never what anybody said, or a server answered. */
export function remark(log: Log, what: Remark, fields: object = {}): void {
  const [part, line] = REMARKS[what];
  log.warn({ part, ...fields }, line);
}

/** What is said of a language model that fails, or answers oddly. */
export const modelRemarks = (log: Log): Pick<ChatMeterParts, 'failed' | 'odd'> => ({
  failed: (failure) =>
    log.warn({ part: 'model', ...failure }, 'a language model failed somebody on the line'),
  odd: (what) => {
    if (what === 'asText' || what === 'window') remark(log, what);
    else remark(log, 'cut', { cut: what });
  },
});
