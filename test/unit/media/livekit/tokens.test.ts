/** Tokens with which we ask LiveKit servers (media/livekit/tokens.ts). */
import t from '../../../fixtures/tap.js';
import { TokenVerifier } from 'livekit-server-sdk';
import { roomToken, serverToken, sipToken } from '../../../../media/livekit/tokens.js';
import { exactly } from '../../../fixtures/exactly.js';

const SERVER = { key: 'key', secret: 'a secret of thirty-two characters' };
const read = (token: string) => new TokenVerifier(SERVER.key, SERVER.secret).verify(token);

t.test('they grant what is asked, about that room', async (t) => {
  const { video, sip } = await read(roomToken(SERVER, 'sess_1'));
  t.strictSame(video, { roomCreate: true, roomList: true, roomAdmin: true, room: 'sess_1' });
  t.equal(sip, undefined);
  const phones = await read(sipToken(SERVER));
  t.strictSame(phones.sip, { admin: true, call: true });
  t.strictSame(phones.video, { roomAdmin: true, room: '' });
});

t.test(
  'they count at servers whose clock is behind or ahead of ours: no beginning, and an hour',
  async (t) => {
    const from = Math.floor(Date.now() / 1000);
    const [, payload = ''] = serverToken(SERVER, { sub: 'agent' }).split('.');
    const { exp, ...claims } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { exp: number };
    exactly(t, claims, { iss: 'key', sub: 'agent' });
    t.notOk('nbf' in claims);
    t.ok(exp >= from + 3600);
  },
);
