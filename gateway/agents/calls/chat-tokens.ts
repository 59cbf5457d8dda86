/** Tokens of chats: made of the session's id with a key that only this installation has, so that any process can check them. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ChatTokens } from '../../../contracts/ports/calls/chats.js';

const PREFIX = 'chat_';
const TOKEN = /^chat_([A-Za-z0-9_-]{1,128})\.([A-Za-z0-9_-]{43})$/;

export function createChatTokens(key: Uint8Array): ChatTokens {
  const proof = (sessionId: string, workspaceId: string): Buffer =>
    createHmac('sha256', key).update(`${workspaceId} ${sessionId}`).digest();
  return {
    issue: (sessionId, workspaceId) =>
      `${PREFIX}${workspaceId}.${proof(sessionId, workspaceId).toString('base64url')}`,
    isOne: (token) => token.startsWith(PREFIX),
    workspaceOf(token, sessionId) {
      const [, workspaceId = '', given = ''] = TOKEN.exec(token) ?? [];
      const bytes = Buffer.from(given, 'base64url');
      const expected = proof(sessionId, workspaceId);
      return bytes.length === expected.length && timingSafeEqual(bytes, expected) ? workspaceId : undefined;
    },
  };
}
