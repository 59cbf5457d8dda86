/** Where a LiveKit server carries the calls, the doors that carry audio themselves refuse, and say what to set. */
import t from '../../fixtures/tap.js';
import { exactly } from '../../fixtures/exactly.js';
import { startPlatform } from '../../fixtures/platform/platform.js';
import { RealtimeClient } from '../../fixtures/protocol-a/realtime-client.js';

const WHAT = /LIVEKIT_URL .*leave it unset, or .*\/v1\/agent\/sessions/;
const OFFER = 'v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n';

const platform = await startPlatform(t, {
  LIVEKIT_URL: 'ws://127.0.0.1:1',
  LIVEKIT_API_KEY: 'key',
  LIVEKIT_API_SECRET: 'secret-of-at-least-thirty-two-bytes',
  START_CHECKS: 'off',
  LOG_LEVEL: 'error',
});
const { gateway, call } = platform;
const agentId = await platform.agent();
await call('POST', `/v1/agent/agents/${agentId}/publish`);

t.test('requests are 409', async (t) => {
  const sdp = { raw: OFFER, headers: { 'content-type': 'application/sdp' } };
  const offered = await call('POST', `/v1/realtime/calls?model=${agentId}`, sdp);
  exactly(t, offered, { status: 409, body: { error: { message: WHAT } } }, 'the offer of a browser');
  const secret = await call('POST', '/v1/realtime/client_secrets', {
    body: { session: { type: 'realtime', model: agentId } },
  });
  exactly(t, secret, { status: 409, body: { error: { message: WHAT } } }, 'a client secret');
  const base = '/compat/elevenlabs/v1/convai/conversation';
  for (const path of ['token', 'get-signed-url']) {
    const answer = await call('GET', `${base}/${path}?agent_id=${agentId}`);
    exactly(t, answer, { status: 409, body: { detail: { message: WHAT } } }, path);
  }
});

t.test('sockets are told in band', async (t) => {
  for (const query of [`?model=${agentId}`, '?call_id=sess_0123456789abcdef01234567']) {
    const client = await new RealtimeClient(gateway, { base: '/v1', query }).opened();
    exactly(t, await client.error(), { code: 'conflict', message: WHAT }, query);
    t.equal(await client.closed(), 1008);
  }
});
