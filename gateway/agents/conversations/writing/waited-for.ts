import type { ConversationTool } from '../tools/tool.js';

/** In writing, where nobody waits on the line, the agent waits for every webhook. */
export const waitedFor = (tool: ConversationTool): ConversationTool =>
  tool.source === 'webhook' ? { ...tool, besideSpeech: false, isForgotten: false } : tool;
