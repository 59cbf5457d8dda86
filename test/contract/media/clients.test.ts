/**
 * Habits of different clients at the embedded LiveKit endpoint: when they offer, how they name Opus, on which media
 * sections they speak and listen, how they republish, and how they reconnect (docs/contract/transport.md "Embedded mode").
 * Modelled on Firefox, Go and Python; unmodified clients are in test/acceptance.
 */
import {
  AddTrackRequest,
  DisconnectReason,
  LeaveRequest_Action,
  RpcRequest,
  SessionDescription,
  TrackType,
} from '@livekit/protocol';
import t from '../../fixtures/tap.js';
import { Caller, type CallerOptions, letGo } from '../../fixtures/calls/caller.js';
import { CallerPeer } from '../../fixtures/calls/caller-peer.js';
import { type Meeting, shownBy, Talks } from '../../fixtures/conversation/conversation.js';
import { exactly } from '../../fixtures/exactly.js';
import { said } from '../../fixtures/chat/model.js';
import { addressOf, Signalling, wrapped } from '../../fixtures/calls/signalling.js';
import { until } from '../../fixtures/until.js';

t.teardown(letGo);
/** Calls at a time. */
t.jobs = 4;
const { talks } = await Talks.shared(t);
talks.model.answer((messages) => `You said: ${said(messages)}`);
const agent = await talks.agent({ prompt: { first_message_mode: 'fixed', first_message: 'Hello there.' } });

async function meet(options: CallerOptions = {}): Promise<Meeting> {
  const invite = await talks.session(agent);
  return { invite, caller: await Caller.join(invite, options), record: () => talks.record(invite) };
}

/** Checks that the agent is heard, and hears. */
async function converse({ caller, ...rest }: Meeting, text: string): Promise<void> {
  await talks.tell({ caller, ...rest }, text, { heard: new RegExp(text.replace('.', String.raw`\.`)) });
  await until('it is answered', () => shownBy(caller, 'agent').some((shown) => shown.includes(text)));
}

/** The directions of the media sections. */
const directionsOf = (sdp: string): string[] =>
  sdp
    .split(/(?=^m=)/m)
    .filter((section) => /^m=(?:audio|video)/.test(section))
    .map((section) => /^a=(sendrecv|sendonly|recvonly|inactive)\r$/m.exec(section)?.[1] ?? '');

const CLIENTS: Readonly<Record<string, CallerOptions>> = {
  'the offer comes behind the join, with Opus as 109 (Firefox)': { late: true, opus: 109 },
  'the microphone is on the line of the agent (Go)': { oneLine: true },
  'the join is packed, and comes to /rtc (Go)': { path: '/rtc' },
  'the microphone sends in silence as well (without DTX)': { dtx: false },
};

for (const [client, options] of Object.entries(CLIENTS))
  t.test(client, async () => {
    const meeting = await meet(options);
    await meeting.caller.untilHeard(0);
    await converse(meeting, 'One lamp.');
    meeting.caller.hangUp();
  });

t.test('the agent reports what it has sent, by the clock of its voice', async (t) => {
  const meeting = await meet();
  const { caller } = meeting;
  await converse(meeting, 'One lamp.');
  await until('two reports', () => caller.reports.length > 1);
  const [first = 0, second = 0] = caller.reports;
  const seconds = ((second - first) >>> 0) / 48_000;
  t.ok(seconds > 0.5 && seconds < 30, `${seconds} s apart`);
  caller.hangUp();
});

t.test('directions follow the offer: publish, unpublish, republish on one connection', async (t) => {
  const meeting = await meet();
  const { caller } = meeting;
  await converse(meeting, 'One lamp.');
  const offered = async (direction: string): Promise<string[]> =>
    directionsOf(await caller.negotiate((offer) => offer.replace('a=sendonly', `a=${direction}`)));
  t.same(await offered('inactive'), ['sendonly', 'inactive'], 'unpublished');
  t.same(await offered('recvonly'), ['sendonly', 'inactive'], 'the agent speaks on one line only');
  t.same(await offered('sendonly'), ['sendonly', 'recvonly'], 'published again');
  await converse(meeting, 'Two lamps.');
  caller.hangUp();
});

/** A client that signals and has no media; its offer is a real one. */
async function signal(join: Parameters<typeof wrapped>[0] = {}): Promise<Signalling> {
  const signalling = new Signalling(addressOf(await talks.session(agent), wrapped(join)));
  await signalling.opened;
  return signalling;
}

async function realOffer(): Promise<string> {
  const peer = new CallerPeer(
    { opus: 111, oneLine: false, bindAddress: '127.0.0.1' },
    { hear: () => undefined, receive: () => undefined },
  );
  await peer.gather();
  peer.close();
  return peer.offer;
}

const OTHER_CODECS = [
  ...['m=audio 9 UDP/TLS/RTP/SAVPF 0', 'c=IN IP4 0.0.0.0', 'a=mid:8', 'a=sendonly', 'a=rtcp-mux'],
  'a=rtpmap:0 PCMU/8000',
  ...['m=video 9 UDP/TLS/RTP/SAVPF 102 96', 'c=IN IP4 0.0.0.0', 'a=mid:9', 'a=sendonly', 'a=rtcp-mux'],
  ...['a=rtpmap:102 H264/90000', 'a=fmtp:102 packetization-mode=1', 'a=rtpmap:96 VP8/90000', ''],
].join('\r\n');

/** An answer that the gateway's library accepts. */
const answerTo = (offer: string): string =>
  offer
    .replaceAll('a=setup:actpass', 'a=setup:active')
    .replace('a=sendonly', 'a=recvonly')
    // With the gateway's own name it would be its own description.
    .replace(/a=ice-ufrag:\S+/g, 'a=ice-ufrag:abcd');

t.test('an answer is bounded as an offer is: one with too many lines is ignored', async (t) => {
  const signalling = new Signalling(addressOf(await talks.session(agent), {}, '/rtc'));
  await signalling.opened;
  const { sdp: offer } = await signalling.next('offer');
  const lines = 'm=audio 9 UDP/TLS/RTP/SAVPF 0\r\nc=IN IP4 0.0.0.0\r\na=inactive\r\n'.repeat(64);
  const sdp = answerTo(offer) + lines;
  signalling.say({ case: 'answer', value: new SessionDescription({ type: 'answer', sdp, id: 1 }) });
  signalling.say({ case: 'ping', value: 1n });
  await signalling.next('pong');
  t.same(signalling.all('leave'), [], 'it never reaches the library, which would refuse it');
  signalling.terminate();
});

for (const path of ['/rtc', '/rtc/v1'] as const)
  t.test(
    `${path}: an answer that no offer waits for is ignored, and nobody is told to join again`,
    async (t) => {
      const signalling = new Signalling(addressOf(await talks.session(agent), {}, path));
      await signalling.opened;
      const answers = ['v=0\r\n', '', 'no description'];
      if (path === '/rtc') answers.unshift(answerTo((await signalling.next('offer')).sdp));
      for (const sdp of answers)
        signalling.say({ case: 'answer', value: new SessionDescription({ type: 'answer', sdp, id: 1 }) });
      signalling.say({ case: 'ping', value: 1n });
      await signalling.next('pong');
      t.same(signalling.all('leave'), []);
      signalling.terminate();
    },
  );

t.test('offers that are not understood are left out of the answer', async (t) => {
  const signalling = await signal();
  const offer = await realOffer();
  const answer = await signalling.offer(`${offer.trimEnd()}\r\na=sctp-init:AQAAHgAA\r\n`);
  t.match(answer, /^m=application /m);
  t.notMatch(answer, /sctp-init/, 'its echo would be a promise');
  signalling.terminate();
});

t.test('lines of other codecs do not break the answer', async (t) => {
  const signalling = await signal();
  const answer = await signalling.offer((await realOffer()) + OTHER_CODECS);
  t.match(answer, /^a=rtpmap:0 PCMU\/8000\r$/m);
  t.match(
    answer,
    /^a=rtpmap:102 H264\/90000\r$/m,
    'a codec that is offered first may be the only one that is sent',
  );
  t.same(directionsOf(answer).slice(-2), ['recvonly', 'recvonly']);
  signalling.terminate();
});

t.test('a client that offers no line to listen on is asked for one, once (React Native)', async (t) => {
  const signalling = await signal();
  const [head = '', ...sections] = (await realOffer()).split(/(?=^m=)/m);
  const listening = sections.filter((section) => section.includes('a=recvonly')).join('');
  const deaf = head + sections.filter((section) => !section.includes('a=recvonly')).join('');
  const withoutIt = deaf.replace(/^(a=group:BUNDLE) 0/m, '$1');
  t.same(directionsOf(await signalling.offer(withoutIt)), ['recvonly']);
  t.equal((await signalling.next('mediaSectionsRequirement')).numAudios, 1);
  t.same(directionsOf(await signalling.offer(withoutIt)), ['recvonly']);
  const answer = await signalling.offer(deaf + listening);
  t.same(directionsOf(answer), ['recvonly', 'sendonly'], 'the agent speaks on the line that was added');
  t.equal(signalling.all('mediaSectionsRequirement').length, 1);
  signalling.terminate();
});

t.test('a stranger’s resume leaves the connection that there is', async (t) => {
  const meeting = await meet();
  const { caller, invite } = meeting;
  await until('a token to return with', () => caller.rejoinToken !== '');
  const address = addressOf(
    { ...invite, token: caller.rejoinToken },
    wrapped({ reconnect: true, participantSid: 'PA_gone' }),
  );
  const stranger = new Signalling(address);
  const { action } = await stranger.next('leave');
  t.equal(action, LeaveRequest_Action.DISCONNECT);
  await until('it is closed', () => stranger.closed);
  await converse(meeting, 'One lamp.');
  t.notOk(caller.mustRejoin);
  caller.hangUp();
});

/** The offer with the microphone named `cid`; or, if it is unpublished, without one. */
const sending = (offer: string, cid?: string): string =>
  offer.replace(
    /a=sendonly\r\n/,
    cid === undefined ? 'a=inactive\r\n' : `a=sendonly\r\na=msid:stream ${cid}\r\n`,
  );

t.test('twenty publications, one after another', async (t) => {
  const signalling = await signal();
  const offer = (await realOffer()).replace(/^a=msid:.*\r\n/gm, '');
  for (let index = 0; index < 20; index += 1) {
    const cid = `microphone-${index}`;
    signalling.say({ case: 'addTrack', value: new AddTrackRequest({ cid, type: TrackType.AUDIO }) });
    await signalling.next('trackPublished', (published) => published.cid === cid);
    await signalling.offer(sending(offer, cid));
    await signalling.offer(sending(offer));
  }
  const sids = signalling.all('trackPublished').map(({ track }) => track?.sid);
  t.equal(new Set(sids).size, 20);
  signalling.terminate();
});

t.test('a resume is answered at once: join anew', async (t) => {
  const { caller, invite } = await meet();
  await until('a token to return with', () => caller.rejoinToken !== '');
  const { media_url } = invite;
  const join = wrapped({ reconnect: true, participantSid: caller.sid });
  const again = new Signalling(addressOf({ media_url, token: caller.rejoinToken }, join));
  exactly(t, await again.next('leave'), { action: LeaveRequest_Action.RECONNECT });
  t.equal(again.told[0]?.case, 'leave', 'before anything else');
  again.terminate();
  await caller.rejoin();
  caller.hangUp();
});

t.test('a method of somebody who is not there is not answered by the agent', async (t) => {
  const { caller } = await meet();
  const ask = (id: string, to: string): void => {
    const value = { case: 'rpcRequest' as const, value: new RpcRequest({ id, method: 'lamps' }) };
    caller.post({ destinationIdentities: [to], value });
  };
  ask('one', 'nobody');
  ask('two', 'agent');
  await until('the agent answers', () => caller.answered.length > 0);
  t.same(caller.answered, ['two']);
  caller.hangUp();
});

t.test('a call that has ended: the room is closed', async (t) => {
  const { caller, invite } = await meet();
  await talks.call(`sessions/${invite.session_id}/end`, { method: 'POST' });
  await until('the client is told', () => caller.leave);
  t.equal(caller.leave?.reason, DisconnectReason.ROOM_CLOSED);
  caller.drop();
});
