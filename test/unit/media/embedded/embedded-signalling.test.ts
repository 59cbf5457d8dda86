/**
 * The protocol of a call without a network: session descriptions, signalling, data packets, messages
 * (docs/contract/transport.md "Embedded mode").
 */
import { gzipSync } from 'node:zlib';
import {
  AddTrackRequest,
  DataPacket,
  JoinRequest,
  SessionDescription,
  SignalRequest,
  SignalResponse,
  TrackType,
  WrappedJoinRequest,
  WrappedJoinRequest_Compression,
} from '@livekit/protocol';
import t from '../../../fixtures/tap.js';
import {
  MOST_PACKET_BYTES,
  PacketWriter,
  readPacket,
  refusalOfCall,
  TextStream,
} from '../../../../media/embedded/data.js';
import {
  agentLineOf,
  allOn,
  following,
  listeningMid,
  sentTracks,
  soundLines,
} from '../../../../media/embedded/directions.js';
import { Messages } from '../../../../media/embedded/messages.js';
import { UserParticipant } from '../../../../media/embedded/participants.js';
import { announced } from '../../../../media/embedded/peer.js';
import { isBounded, offeredOpusType, trimOffer, userFragmentOf } from '../../../../media/embedded/sdp.js';
import { joiningOf, readSignal, writeSignal } from '../../../../media/embedded/signal.js';
import { Ledger } from '../../../../gateway/server/memory/ledger.js';
import { AsyncQueue } from '../../../../media/async-queue.js';
import { exactly, throwsExactly } from '../../../fixtures/exactly.js';

/** The audio section of an offer. */
const audioOf = (sdp: string): string => /m=audio[^]*?(?=m=video)/.exec(sdp)?.[0] ?? '';

const OFFER = [
  'v=0',
  'a=ice-ufrag:abcd',
  'm=audio 9 UDP/TLS/RTP/SAVPF 63 9 96 13',
  'a=mid:0',
  'a=recvonly',
  'a=rtpmap:63 red/48000/2',
  'a=rtpmap:96 opus/48000/2',
  'a=fmtp:96 minptime=10',
  'a=rtcp-fb:63 nack',
  'a=rtpmap:9 G722/8000',
  'm=video 9 UDP/TLS/RTP/SAVPF 100 97',
  'a=mid:1',
  'a=rtpmap:97 VP8/90000',
  'a=rtpmap:100 H264/90000',
  'm=application 9 UDP/DTLS/SCTP webrtc-datachannel',
  'a=mid:2',
  'a=sctp-port:5000',
  'a=sctp-init:AQAAHgAA',
  '',
].join('\r\n');

t.test('a session description is read line by line', async (t) => {
  t.equal(offeredOpusType(OFFER), 96);
  t.equal(offeredOpusType('v=0'), undefined);
  t.equal(userFragmentOf(OFFER), 'abcd');
});

t.test('in an answer Opus is the first codec of a line, and RED is left out', async (t) => {
  const trimmed = trimOffer(OFFER);
  t.match(trimmed, /^m=audio 9 UDP\/TLS\/RTP\/SAVPF 96 9\r$/m);
  t.match(trimmed, /^m=video 9 UDP\/TLS\/RTP\/SAVPF 100 97\r$/m, 'pictures are as they were');
  t.notMatch(trimmed, /red|rtcp-fb:63/);
  t.match(trimmed, /a=rtpmap:96 opus\/48000\/2\r\na=fmtp:96 minptime=10/);
  const withoutOpus = OFFER.replace('opus', 'L16');
  t.equal(trimOffer(withoutOpus), trimOffer(OFFER).replace(/m=audio[^]*?(?=m=video)/, audioOf(withoutOpus)));
});

t.test('a data line of a session description keeps what is known, without an offer of SCTP', async (t) => {
  t.match(trimOffer(OFFER), /webrtc-datachannel\r\na=mid:2\r\na=sctp-port:5000\r\n$/);
});

const lines = (...directions: readonly string[]): string =>
  directions
    .map((direction, mid) => {
      const codec = 'm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=rtpmap:111 opus/48000/2\r\n';
      return `${codec}a=mid:${mid}\r\n${direction === '' ? '' : `a=${direction}\r\n`}`;
    })
    .join('');

t.test(
  'directions: the agent speaks on a line on which the client only listens, else on one for both',
  async (t) => {
    t.equal(listeningMid(OFFER), '0');
    t.equal(listeningMid(lines('sendrecv', 'recvonly')), '1');
    t.equal(listeningMid(lines('sendonly', 'sendrecv')), '1');
    t.equal(listeningMid(lines('sendonly', 'inactive')), undefined);
    t.equal(listeningMid(lines('recvonly').replace('opus', 'PCMU')), undefined, 'not without Opus');
  },
);

t.test('the library is told that every line sends', async (t) => {
  const all = ['sendrecv', 'sendonly', 'recvonly', 'inactive'];
  t.equal(allOn(lines(...all), '1'), lines('sendonly', 'sendrecv', 'sendonly', 'sendonly'));
  t.equal(allOn(lines(''), undefined), lines('sendonly'), 'said where it was not');
});

t.test('the client is answered the directions that its offer asks for', async (t) => {
  const all = ['sendrecv', 'sendonly', 'recvonly', 'inactive', ''];
  const answers = ['recvonly', 'recvonly', 'inactive', 'inactive', 'recvonly'];
  const ofAgent = ['sendrecv', 'recvonly', 'sendonly', 'inactive', 'sendrecv'];
  const library = lines(...all.map(() => 'recvonly'));
  t.equal(following(lines(...all), library, undefined), lines(...answers));
  for (const [mid, direction] of ofAgent.entries())
    t.equal(following(lines(...all), library, String(mid)), lines(...answers.with(mid, direction)));
});

t.test('a line that the client gives up is answered with port 0, and leaves the bundle', async (t) => {
  const group = 'a=group:BUNDLE 0 1 2\r\n';
  const [first = '', second = '', third = ''] = lines('sendonly', 'inactive', 'recvonly').split(/(?=m=)/);
  const offer = group + first + second.replace('audio 9', 'audio 0') + third;
  const answer = following(offer, group + lines('recvonly', 'recvonly', 'sendonly'), '2');
  t.match(answer, /^a=group:BUNDLE 0 2\r\n/);
  t.same(
    [...answer.matchAll(/^m=audio (\d+)/gm)].map(([, port]) => port),
    ['9', '0', '9'],
  );
  t.same(
    ['0', '1', '2', '3'].map((mid) => agentLineOf(offer, mid)),
    ['muted', 'gone', 'heard', 'gone'],
  );
});

t.test('an offer is bounded in bytes and in lines of media', async (t) => {
  t.ok(isBounded(lines(...Array<string>(60).fill('sendonly'))));
  t.notOk(isBounded(lines(...Array<string>(64).fill('sendonly')).concat('m=audio')));
  t.notOk(isBounded('x'.repeat(64 * 1024 + 1)));
});

t.test('the tracks that a client sends are those on lines that send', async (t) => {
  const named = (direction: string, name: string) => `${lines(direction)}a=msid:stream ${name}\r\n`;
  const offer =
    named('sendonly', 'a') + named('inactive', 'b') + named('sendrecv', 'c') + named('recvonly', 'd');
  t.same([...sentTracks(offer)], ['a', 'c']);
});

t.test('a track is unpublished by an offer that does not name it', async (t) => {
  const user = new UserParticipant('user', 'User', () => 0);
  const publish = (cid: string, type = TrackType.AUDIO) =>
    user.tracks.announce(new AddTrackRequest({ cid, type })).sid;
  const sends = (...names: readonly string[]) =>
    user.tracks.offered(
      new Set(names),
      names.filter((name) => name !== 'c').map((name) => ({ mid: name, name })),
    );
  const sids = () => user.info(0).tracks.map(({ sid }) => sid);
  const first = publish('a');
  sends();
  t.same(sids(), [first], 'not named yet');
  t.equal(user.tracks.microphone, undefined);
  sends('a');
  t.equal(publish('a'), first, 'the same again');
  const second = publish('b');
  t.equal(user.tracks.microphone, first, 'the second is announced, but not offered');
  sends('a', 'b');
  t.equal(user.tracks.microphone, second);
  publish('c', TrackType.VIDEO);
  sends('a', 'b', 'c');
  t.equal(user.tracks.microphone, second, 'pictures are not heard');
  sends('c');
  t.notOk(sids().includes(first));
  const many = Array.from({ length: 20 }, (_, index) => publish(`more ${index}`));
  t.same(sids(), many.slice(-8), 'so many at a time, the latest');
});

t.test('the lines on which a client sends sound are named by their tracks, or by themselves', async (t) => {
  const named = lines('sendonly', 'sendrecv', 'inactive').replace(
    'a=mid:1',
    'a=mid:1\r\na=msid:stream track',
  );
  t.same(soundLines(named), [
    { mid: '0', name: 'mid 0' },
    { mid: '1', name: 'track' },
  ]);
  t.same(soundLines(lines('sendonly').replace('m=audio', 'm=video')), []);
  t.same(soundLines(lines('sendonly').replace('m=audio 9', 'm=audio 0')), [], 'a line that was given up');
});

t.test('candidates name the public address, if there is one', async (t) => {
  const host = 'candidate:1 1 UDP 2114977791 10.0.0.5 7882 typ host';
  t.equal(announced(host, undefined), host);
  t.equal(announced(`a=${host}`, undefined), host, 'as browsers say it');
  t.equal(announced(host, '203.0.113.9'), host.replace('10.0.0.5', '203.0.113.9'));
  const relayed = 'candidate:2 1 UDP 1 198.51.100.2 9 typ srflx raddr 10.0.0.5 rport 7882';
  t.equal(announced(relayed, '203.0.113.9'), relayed);
});

const asParameter = (wrapped: WrappedJoinRequest): URLSearchParams =>
  new URLSearchParams({ join_request: Buffer.from(wrapped.toBinary()).toString('base64') });

t.test('clients join with packed or plain parameters, again or anew', async (t) => {
  const publisherOffer = new SessionDescription({ type: 'offer', sdp: OFFER, id: 4 });
  const join = new JoinRequest({ publisherOffer, reconnect: true, participantSid: 'PA_1' }).toBinary();
  const plain = joiningOf(1, asParameter(new WrappedJoinRequest({ joinRequest: join })));
  exactly(t, plain, { resume: 'PA_1', offer: { id: 4, sdp: OFFER } });
  const packed = new WrappedJoinRequest({
    joinRequest: gzipSync(join),
    compression: WrappedJoinRequest_Compression.GZIP,
  });
  exactly(t, joiningOf(1, asParameter(packed)), plain);
  t.same(joiningOf(0, new URLSearchParams('reconnect=1&sid=PA_2')), { resume: 'PA_2', tracks: [] });
  t.same(joiningOf(0, new URLSearchParams('sid=PA_2')), { tracks: [] });
  t.same(joiningOf(1, new URLSearchParams()), { tracks: [] });
});

t.test('a join parameter that unpacks to far too much is refused', async (t) => {
  const bomb = new WrappedJoinRequest({
    joinRequest: gzipSync(Buffer.alloc(64 * 1024 * 1024)),
    compression: WrappedJoinRequest_Compression.GZIP,
  });
  throwsExactly(t, () => joiningOf(1, asParameter(bomb)), { code: 'ERR_BUFFER_TOO_LARGE' });
  throwsExactly(t, () => joiningOf(1, new URLSearchParams({ join_request: '////' })), {
    message: 'premature EOF',
  });
});

t.test('signalling frames are read in both encodings, and anything else is ignored', async (t) => {
  const ping = new SignalRequest({ message: { case: 'ping', value: 5n } });
  t.equal(readSignal(ping.toBinary())?.case, 'ping');
  t.equal(readSignal(ping.toJsonString())?.case, 'ping');
  for (const bad of ['{', '{"no":"case"}', '', Buffer.from('garbage that is no frame')])
    t.equal(readSignal(bad)?.case, undefined);
  const text = writeSignal({ case: 'pong', value: 7n }, true);
  t.equal(SignalResponse.fromJsonString(String(text)).message.case, 'pong');
});

const sender = { identity: 'agent', sid: 'PA_a' };
type Written = DataPacket['value'];

function stream(text: string) {
  const values: Written[] = [];
  const made = new TextStream(sender, { 'lk.segment_id': 's' }, (_, value) => values.push(value));
  made.add(text);
  made.end({ 'lk.transcription_final': 'true' });
  return values;
}

t.test('a text stream is a header, chunks that split no character, and a trailer', async (t) => {
  const text = 'é'.repeat(MOST_PACKET_BYTES);
  const values = stream(`a${text}`);
  t.same(
    values.map((value) => value.case),
    ['streamHeader', 'streamChunk', 'streamChunk', 'streamChunk', 'streamTrailer'],
  );
  const chunks = values.flatMap((value) => (value.case === 'streamChunk' ? [value.value] : []));
  t.ok(chunks.every(({ content }) => content.length <= MOST_PACKET_BYTES));
  t.same(
    chunks.map(({ chunkIndex }) => chunkIndex),
    [0n, 1n, 2n],
  );
  const whole = chunks
    .map(({ content }) => new TextDecoder('utf-8', { fatal: true }).decode(content))
    .join('');
  t.equal(whole, `a${text}`);
});

t.test('data packets are numbered by sender, and anything else is dropped', async (t) => {
  const writer = new PacketWriter();
  const packets = [1, 2].map(() => DataPacket.fromBinary(writer.message(sender, 'topic', Uint8Array.of(1))));
  t.same(
    packets.map(({ sequence }) => sequence),
    [1, 2],
  );
  exactly(t, packets[0], {
    participantIdentity: 'agent',
    value: { case: 'user', value: { topic: 'topic' } },
  });
  t.equal(readPacket(Buffer.from('no packet at all')), undefined);
  exactly(
    t,
    refusalOfCall('r1').map((value) => value.case),
    ['rpcAck', 'rpcResponse'],
  );
});

function messages(microphone?: string) {
  const sent: DataPacket[] = [];
  let open = true;
  const made = new Messages(
    {
      agent: { ...sender, trackSid: 'TR_a' },
      user: () => ({ identity: 'user', sid: 'PA_u', tracks: { microphone } }),
    },
    (bytes) => {
      if (open) sent.push(DataPacket.fromBinary(bytes));
      return open;
    },
  );
  return { made, sent, gate: (state: boolean) => void (open = state) };
}

t.test("the agent's transcript is one stream a reply, the user's one an update", async (t) => {
  const { made, sent } = messages();
  const show = (speaker: 'user' | 'agent', text: string, final: boolean): void =>
    made.show({ speaker, segment: `${speaker}_1`, text, final });
  show('agent', 'One ', false);
  show('agent', 'two', false);
  show('user', 'I', false);
  show('user', 'I see', true);
  show('agent', '', true);
  const kinds = sent.map(({ participantIdentity, value }) => `${participantIdentity} ${value.case}`);
  const update = ['user streamHeader', 'user streamChunk', 'user streamTrailer'];
  t.same(kinds, [
    ...['agent streamHeader', 'agent streamChunk', 'agent streamChunk'],
    ...[...update, ...update],
    'agent streamTrailer',
  ]);
  const finals = sent.flatMap(({ value }) =>
    value.case === 'streamHeader' ? [value.value.attributes['lk.transcription_final']] : [],
  );
  t.same(finals, ['false', 'false', 'true']);
  exactly(t, sent.at(-1)?.value, { value: { attributes: { 'lk.transcription_final': 'true' } } });
});

t.test(
  'a transcript that turns out to be noise is withdrawn: its text is sent as final, with a mark (D20)',
  async (t) => {
    const { made, sent } = messages();
    made.show({ speaker: 'user', segment: 'user_1', text: 'I', final: false });
    made.show({ speaker: 'user', segment: 'user_1', text: '', final: true });
    t.same(
      sent.slice(3).map(({ value }) => value.case),
      ['streamHeader', 'streamChunk', 'streamTrailer'],
    );
    exactly(t, sent[3]?.value.value, {
      attributes: { 'lk.segment_id': 'user_1', 'lk.transcription_final': 'true', withdrawn: 'true' },
    });
    exactly(t, sent[4]?.value.value, { content: new Uint8Array(Buffer.from('I')) });
    made.show({ speaker: 'user', segment: 'user_2', text: '', final: true });
    t.same(
      sent.slice(6).map(({ value }) => value.case),
      ['streamHeader', 'streamTrailer'],
      'of a segment of which nothing was shown there is nothing to withdraw',
    );
  },
);

t.test('a transcript names the track of its voice, if there is one', async (t) => {
  const tracks = (microphone?: string) => {
    const { made, sent } = messages(microphone);
    for (const speaker of ['agent', 'user'] as const)
      made.show({ speaker, segment: speaker, text: 'Hm', final: true });
    return sent.flatMap(({ value }) =>
      value.case === 'streamHeader' ? [value.value.attributes['lk.transcribed_track_id']] : [],
    );
  };
  t.same(tracks('TR_u'), ['TR_a', 'TR_u']);
  t.same(tracks(), ['TR_a', undefined], 'typed');
});

t.test('messages wait until the channel is open, in order and in bounded bytes', async (t) => {
  const { made, sent, gate } = messages();
  gate(false);
  for (let index = 0; index < 400; index += 1) made.message('t', new Uint8Array(1000).fill(index % 256));
  gate(true);
  made.flush();
  t.ok(sent.length > 200 && sent.length < 300, `${sent.length} of 400 were kept`);
  const first = sent[0]?.value;
  t.equal(first?.case === 'user' ? first.value.payload[0] : undefined, 0);
});

t.test('messages that the client does not take now are sent later, once and in order', async (t) => {
  const { made, sent, gate } = messages();
  const message = (number: number): void => made.message('t', Uint8Array.of(number));
  message(0);
  gate(false);
  for (const number of [1, 2, 3]) message(number);
  made.message('t', new Uint8Array(200_000));
  gate(true);
  message(4);
  const told = sent.map(({ value }) => (value.case === 'user' ? value.value.payload[0] : undefined));
  t.same(told, [0, 1, 2, 3, 4], 'what no client reads has held up nothing');
});

t.test('an async queue charges its share for what waits, and refuses what does not fit', async (t) => {
  const ledger = new Ledger(1000);
  const share = ledger.openShare({ kind: 'frame', holder: 'w', evict: () => undefined });
  const queue = new AsyncQueue<number>((value) => value, share);
  const next = queue.next();
  t.ok(queue.push(2000), 'what does not wait needs no memory');
  await next;
  t.ok(queue.push(600));
  t.notOk(queue.push(600));
  t.same([ledger.bytes, queue.bytes], [600, 600]);
  await queue.next();
  t.ok(queue.push(600));
  await queue.return();
  t.equal(ledger.bytes, 0);
});

t.test('an async queue keeps order, counts the weight of what waits, and ends when ended', async (t) => {
  const queue = new AsyncQueue<number>((value) => value);
  queue.push(1);
  queue.push(2);
  t.same([queue.length, queue.bytes], [2, 3]);
  t.same(await queue.next(), { done: false, value: 1 });
  t.equal(queue.bytes, 2);
  queue.end();
  t.notOk(queue.push(3));
  t.same(
    [await queue.next(), await queue.next()],
    [
      { done: false, value: 2 },
      { done: true, value: undefined },
    ],
  );
  const waiting = new AsyncQueue<number>();
  const next = waiting.next();
  waiting.push(0);
  t.same(await next, { done: false, value: 0 });
  const ending = waiting.next();
  waiting.end();
  t.same(await ending, { done: true, value: undefined });
});
