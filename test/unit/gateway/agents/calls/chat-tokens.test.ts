/** Tokens of chats: each is good for its chat alone. */
import t from '../../../../fixtures/tap.js';
import { createChatTokens } from '../../../../../gateway/agents/calls/chat-tokens.js';

t.test(
  'a token is good for its chat alone, and only as it was issued, at every process with the key',
  (t) => {
    const tokens = createChatTokens(Buffer.alloc(32, 1));
    const token = tokens.issue('sess_a', 'ws_1');
    t.equal(createChatTokens(Buffer.alloc(32, 1)).workspaceOf(token, 'sess_a'), 'ws_1');
    t.ok(tokens.isOne(token));
    t.notOk(tokens.isOne('an-api-key'));
    const foreign = createChatTokens(Buffer.alloc(32, 2)).issue('sess_a', 'ws_1');
    for (const [wrong, session] of [
      [token, 'sess_b'],
      [token.replace('ws_1', 'ws_2'), 'sess_a'],
      [`${token}x`, 'sess_a'],
      [token.slice(0, -1), 'sess_a'],
      [foreign, 'sess_a'],
      ['chat_', 'sess_a'],
      ['chat_ws_1.', 'sess_a'],
    ] as const)
      t.equal(tokens.workspaceOf(wrong, session), undefined, `${wrong} for ${session}`);
    t.end();
  },
);
