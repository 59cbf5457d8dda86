/** Tokens of media streams. */
import t from '../../../../fixtures/tap.js';
import { createStreamTokens } from '../../../../../gateway/agents/phone/stream-tokens.js';

t.test('a token is good for its call at its provider alone', (t) => {
  const tokens = createStreamTokens(new Uint8Array(32).fill(7));
  const claims = { provider: 'twilio', callId: 'CA1' } as const;
  const token = tokens.issue('sess_1', claims);
  t.equal(tokens.verify(token, claims), 'sess_1');
  t.equal(tokens.verify(token, { ...claims, callId: 'CA2' }), undefined);
  t.equal(tokens.verify(token.replace('sess_1', 'sess_2'), claims), undefined);
  t.equal(createStreamTokens(new Uint8Array(32)).verify(token, claims), undefined, 'another installation');
  for (const bad of ['', '.', 'sess_1', `${token}.`, `${token}x`])
    t.equal(tokens.verify(bad, claims), undefined, bad);
  t.end();
});
