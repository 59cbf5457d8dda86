/**
 * The media side of a call without its network: playout, microphone, voice activity, RTP, session descriptions,
 * signalling and data packets (transport.md "Embedded mode").
 */
import { gzipSync } from 'node:zlib';
import {
  DataPacket,
  JoinRequest,
  SessionDescription,
  SignalRequest,
  SignalResponse,
  WrappedJoinRequest,
  WrappedJoinRequest_Compression,
} from '@livekit/protocol';
import t from 'tap';
import { bytesOf, samplesOf } from '../../contracts/audio.js';
import { DETECTOR_FRAME, Ears, type VoiceDetector } from '../../media/ears.js';
import {
  MOST_PACKET_BYTES,
  PacketWriter,
  readPacket,
  refusalOfCall,
  TextStream,
} from '../../media/embedded/data.js';
import { Messages } from '../../media/embedded/messages.js';
import { Pacer } from '../../media/pacer.js';
import { Microphone } from '../../media/embedded/microphone.js';
import { announced } from '../../media/embedded/peer.js';
import { ahead, readRtp, RtpWriter } from '../../media/embedded/rtp.js';
import { listeningMid, opusTypeOf, trimOffer, userFragmentOf } from '../../media/embedded/sdp.js';
import { joiningOf, readSignal, writeSignal } from '../../media/embedded/signal.js';
import { loudnessDetector } from '../../media/loudness.js';
import { FRAME_SAMPLES, Playout } from '../../media/playout.js';
import { Pushed } from '../../media/pushed.js';
import type { Report } from '../../media/wire.js';
import { until } from '../fixtures/until.js';

const tone = (samples: number, value = 1000): Int16Array => new Int16Array(samples).fill(value);

t.test('playout: utterances in order, each ended once, with what has left of it', async (t) => {
  const played: [number, number, boolean][] = [];
  const playout = new Playout((...report) => void played.push(report));
  t.equal(playout.next(), undefined, 'nothing is sent while nothing is said');
  playout.play(1, bytesOf(tone(FRAME_SAMPLES * 2 + 100, 1)));
  playout.play(2, bytesOf(tone(FRAME_SAMPLES, 2)));
  playout.finish(1);
  playout.finish(2);
  const frames = Array.from({ length: 12 }, () => playout.next());
  t.same(
    frames.map((frame) => frame?.samples[0]),
    [1, 1, 1, 2, 0, 0, 0, 0, 0, undefined, undefined, undefined],
    'a short tail of silence follows',
  );
  t.equal(frames[2]?.samples[100], 0, 'the last frame is filled up');
  t.same(
    frames.map((frame) => frame?.begins),
    [true, ...Array<boolean>(8).fill(false), undefined, undefined, undefined],
  );
  t.same(played, [
    [1, 60, true],
    [2, 20, true],
  ]);
});

t.test('playout: less than a frame waits for more, unless nothing more comes', async (t) => {
  const playout = new Playout(() => undefined);
  playout.play(1, bytesOf(tone(FRAME_SAMPLES - 1)));
  t.equal(playout.next(), undefined);
  playout.play(1, bytesOf(tone(1, 7)));
  t.equal(playout.next()?.samples.at(-1), 7, 'chunks are joined');
});

t.test('playout: pause keeps what waits, clear drops it and says how much was heard', async (t) => {
  const played: [number, number, boolean][] = [];
  const playout = new Playout((...report) => void played.push(report));
  playout.play(1, bytesOf(tone(FRAME_SAMPLES * 20)));
  for (let frame = 0; frame < 7; frame += 1) playout.next();
  t.same(played, [[1, 100, false]], 'reported now and then');
  playout.pause();
  t.same([playout.next()?.samples[0], playout.next()?.samples[0]], [0, 0]);
  playout.resume();
  t.equal(playout.next()?.samples[0], 1000);
  playout.play(2, bytesOf(tone(FRAME_SAMPLES)));
  playout.pause();
  playout.clear();
  t.same(played.slice(1), [
    [1, 160, true],
    [2, 0, true],
  ]);
  playout.play(3, bytesOf(tone(FRAME_SAMPLES, 3)));
  t.equal(playout.next()?.samples[0], 3, 'what comes after is heard');
});

t.test('playout: an utterance without sound is over at once', async (t) => {
  const played: unknown[] = [];
  const playout = new Playout((...report) => void played.push(report));
  playout.finish(9);
  playout.next();
  t.same(played, [[9, 0, true]]);
});

/** A microphone whose packets carry their own value as 20 ms of sound; an empty one cannot be decoded. */
function microphone() {
  const heard: number[] = [];
  const decoder = {
    decode(payload: Uint8Array): Uint8Array {
      if (payload[0] === undefined) throw new Error('broken');
      return bytesOf(tone(320, payload[0] * 100));
    },
  };
  const mic = new Microphone(decoder, (samples) => heard.push(samples[0] ?? Number.NaN));
  const receive = (sequence: number, value = sequence % 100, ssrc = 1): void =>
    mic.receive({
      ssrc,
      sequence: sequence & 0xffff,
      timestamp: sequence * 960,
      payload: Uint8Array.of(value),
    });
  return { mic, heard, receive };
}

t.test('microphone: order is restored, doubles are left out', async (t) => {
  const { heard, receive } = microphone();
  for (const sequence of [1, 3, 2, 2, 4, 1]) receive(sequence);
  t.same(heard, [100, 200, 300, 400]);
});

t.test('microphone: numbers go round', async (t) => {
  const { heard, receive } = microphone();
  receive(65_535, 1);
  receive(65_536, 2);
  receive(65_537, 3);
  t.same(heard, [100, 200, 300]);
});

t.test('microphone: a lost frame is a faded repeat, a long loss ends in silence', async (t) => {
  const { mic, heard, receive } = microphone();
  receive(1, 8);
  for (const sequence of [3, 4, 5, 6]) receive(sequence, 1);
  t.same(heard, [800, 400, 100, 100, 100, 100]);
  t.same(mic.counts, { received: 5, lost: 1 });
  receive(60, 2);
  for (const sequence of [61, 62, 63]) receive(sequence, 2);
  t.same(heard.slice(6, 12), [50, 25, 12, 6, 3, 200], 'at most five are made up');
});

t.test('microphone: nothing for a while is silence, so that a muted one ends the turn', async (t) => {
  const { mic, heard, receive } = microphone();
  receive(1);
  for (let beat = 0; beat < 7; beat += 1) mic.beat();
  t.same(heard, [100], 'after a little patience');
  mic.beat();
  mic.beat();
  t.same(heard.slice(1), Array<number>(9).fill(0), 'and then no time is missing');
  receive(2);
  t.equal(heard.at(-1), 200, 'and it goes on');
});

t.test('microphone: what waits for a lost packet is heard when nothing more comes', async (t) => {
  const { mic, heard, receive } = microphone();
  receive(1, 4);
  receive(3, 1);
  for (let beat = 0; beat < 8; beat += 1) mic.beat();
  t.same(heard, [400, 200, 100]);
});

t.test('microphone: a stream that begins anew, and packets that are broken', async (t) => {
  const { mic, heard, receive } = microphone();
  receive(1);
  receive(20_000, 5);
  t.same(heard, [100, 500]);
  mic.receive({ ssrc: 1, sequence: 20_001, timestamp: 0, payload: new Uint8Array() });
  t.equal(heard.at(-1), 0);
});

t.test('microphone: of two streams one is heard, and the other once it has gone quiet', async (t) => {
  const { mic, heard, receive } = microphone();
  for (let sequence = 1; sequence < 4; sequence += 1) {
    receive(sequence, 1);
    receive(sequence + 500, 9, 2);
    mic.beat();
  }
  t.same(heard, [100, 100, 100]);
  for (let beat = 0; beat < 8; beat += 1) mic.beat();
  receive(504, 9, 2);
  t.equal(heard.at(-1), 900);
});

t.test('microphone: nobody is heard faster than time goes', async (t) => {
  const { mic, heard, receive } = microphone();
  for (let sequence = 0; sequence < 1000; sequence += 1) receive(sequence, 1);
  const early = heard.length;
  t.ok(early >= 150 && early < 160, `${early} frames`);
  for (let beat = 0; beat < 10; beat += 1) {
    mic.beat();
    for (let more = 0; more < 10; more += 1) receive(1000 + beat * 10 + more, 1);
  }
  t.ok(heard.length <= early + 20, 'and then in step with it');
});

/** Voice activity as the test says, frame by frame. */
function scripted(active: readonly boolean[]) {
  let released = 0;
  let at = 0;
  const detector: VoiceDetector = {
    push: () => active[at++] ?? false,
    release: () => void (released += 1),
  };
  return { detector, released: () => released };
}

t.test('ears: voice is reported with the breath before it, in windows, until it ends', async (t) => {
  const reports: Report[] = [];
  const pattern = [...Array<boolean>(30).fill(false), ...Array<boolean>(20).fill(true), false, false];
  const ears = new Ears(scripted(pattern).detector, (report) => reports.push(report));
  // In pieces that fit no frame.
  for (let sent = 0; sent < pattern.length * DETECTOR_FRAME; sent += 320) ears.push(tone(320, 1));
  const speech = reports.filter(({ on }) => on === 'speech');
  t.match(speech, [
    { active: true, at: 31 * 32 },
    { active: false, at: 51 * 32 },
  ]);
  const windows = reports.flatMap((report) => (report.on === 'audio' ? [report] : []));
  const samples = windows.reduce((sum, { pcm }) => sum + samplesOf(pcm).length, 0);
  t.equal(samples, (15 + 1 + 20) * DETECTOR_FRAME, '480 ms before it was noticed, and all until its end');
  t.equal(windows[0]?.at, 15 * 32 + 1 * 32 - 32);
  t.equal(reports[0]?.on, 'speech', 'the voice is told before its sound');
  t.equal(reports.at(-1)?.on, 'speech', 'and its end behind it');
});

t.test('ears: a call that ends in mid-word ends the voice', async (t) => {
  const reports: Report[] = [];
  const { detector, released } = scripted([true, true, true]);
  const ears = new Ears(detector, (report) => reports.push(report));
  ears.push(tone(2 * DETECTOR_FRAME));
  ears.stop();
  t.match(reports.at(-1), { on: 'speech', active: false });
  t.equal(released(), 1);
});

t.test('loudness: quick to begin, slower to end', async (t) => {
  const detector = loudnessDetector();
  const hear = (value: number, frames: number) =>
    Array.from({ length: frames }, () => detector.push(tone(DETECTOR_FRAME, value)));
  t.same(hear(5000, 3), [false, true, true]);
  t.same(hear(0, 9), [...Array<boolean>(7).fill(true), false, false]);
  t.same([...hear(5000, 1), ...hear(100, 3)], [false, false, false, false], 'a click is no voice');
});

t.test('RTP: what is written can be read, and rubbish cannot', async (t) => {
  const writer = new RtpWriter(7, 111);
  writer.tick();
  const packet = writer.packet(Uint8Array.of(1, 2, 3), true);
  t.match(readRtp(packet, 111), { sequence: 0, timestamp: 960, payload: { length: 3 } });
  t.equal((packet[1] ?? 0) >> 7, 1, 'the first after silence is marked');
  t.equal(readRtp(packet, 96), undefined, 'another codec');
  t.equal(readRtp(Buffer.alloc(4), 111), undefined);
  const extended = Buffer.concat([
    packet.subarray(0, 12),
    Buffer.from([0xbe, 0xde, 0, 1, 0, 0, 0, 0]),
    Buffer.from([9]),
  ]);
  extended[0] = 0x90;
  t.equal(readRtp(extended, 111)?.payload[0], 9, 'behind an extension');
  const lying = Buffer.from(packet);
  lying[0] = 0xbf;
  t.equal(readRtp(lying, 111), undefined, 'an extension and contributors that are not there');
  const padded = Buffer.concat([packet, Buffer.from([0, 2])]);
  padded[0] = 0xa0;
  t.equal(readRtp(padded, 111)?.payload.length, 3);
  t.same([ahead(1, 65_535), ahead(65_535, 1), ahead(5, 5)], [2, -2, 0]);
});

const OFFER = [
  'v=0',
  'a=ice-ufrag:abcd',
  'm=audio 9 UDP/TLS/RTP/SAVPF 63 96 9',
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
  '',
].join('\r\n');

t.test('session descriptions: read, and trimmed to one codec a line', async (t) => {
  t.equal(opusTypeOf(OFFER), 96);
  t.equal(opusTypeOf('v=0'), 111, 'as we would say it');
  t.equal(listeningMid(OFFER), '0');
  t.equal(listeningMid(OFFER.replace('recvonly', 'sendonly')), undefined);
  t.equal(userFragmentOf(OFFER), 'abcd');
  const trimmed = trimOffer(OFFER);
  t.match(trimmed, /^m=audio 9 UDP\/TLS\/RTP\/SAVPF 96\r$/m);
  t.match(trimmed, /^m=video 9 UDP\/TLS\/RTP\/SAVPF 97\r$/m);
  t.notMatch(trimmed, /red|G722|H264|rtcp-fb:63/);
  t.match(trimmed, /m=application 9 UDP\/DTLS\/SCTP webrtc-datachannel\r\na=mid:2/);
});

t.test('candidates name the public address, where there is one', async (t) => {
  const host = 'candidate:1 1 UDP 2114977791 10.0.0.5 7882 typ host';
  t.equal(announced(host, undefined), host);
  t.equal(announced(host, '203.0.113.9'), host.replace('10.0.0.5', '203.0.113.9'));
  const relayed = 'candidate:2 1 UDP 1 198.51.100.2 9 typ srflx raddr 10.0.0.5 rport 7882';
  t.equal(announced(relayed, '203.0.113.9'), relayed);
});

const asParameter = (wrapped: WrappedJoinRequest): URLSearchParams =>
  new URLSearchParams({ join_request: Buffer.from(wrapped.toBinary()).toString('base64') });

t.test('signalling: how clients join, packed or not, again or anew', async (t) => {
  const publisherOffer = new SessionDescription({ type: 'offer', sdp: OFFER, id: 4 });
  const join = new JoinRequest({ publisherOffer, reconnect: true, participantSid: 'PA_1' }).toBinary();
  const plain = joiningOf(1, asParameter(new WrappedJoinRequest({ joinRequest: join })));
  t.match(plain, { resume: 'PA_1', offer: { id: 4, sdp: OFFER } });
  const packed = new WrappedJoinRequest({
    joinRequest: gzipSync(join),
    compression: WrappedJoinRequest_Compression.GZIP,
  });
  t.match(joiningOf(1, asParameter(packed)), plain);
  t.same(joiningOf(0, new URLSearchParams('reconnect=1&sid=PA_2')), { resume: 'PA_2', tracks: [] });
  t.same(joiningOf(0, new URLSearchParams('sid=PA_2')), { tracks: [] });
  t.same(joiningOf(1, new URLSearchParams()), { tracks: [] });
});

t.test('signalling: a parameter that unpacks to far too much is refused', async (t) => {
  const bomb = new WrappedJoinRequest({
    joinRequest: gzipSync(Buffer.alloc(64 * 1024 * 1024)),
    compression: WrappedJoinRequest_Compression.GZIP,
  });
  t.throws(() => joiningOf(1, asParameter(bomb)));
  t.throws(() => joiningOf(1, new URLSearchParams({ join_request: '////' })));
});

t.test('signalling: frames in both encodings, and what is none', async (t) => {
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

t.test('text streams: header, chunks that never split a character, trailer', async (t) => {
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

t.test('data packets: numbered, from whoever speaks; what is none is left out', async (t) => {
  const writer = new PacketWriter();
  const packets = [1, 2].map(() => DataPacket.fromBinary(writer.message(sender, 'topic', Uint8Array.of(1))));
  t.same(
    packets.map(({ sequence }) => sequence),
    [1, 2],
  );
  t.match(packets[0], { participantIdentity: 'agent', value: { case: 'user', value: { topic: 'topic' } } });
  t.equal(readPacket(Buffer.from('no packet at all')), undefined);
  t.match(
    refusalOfCall('r1').map((value) => value.case),
    ['rpcAck', 'rpcResponse'],
  );
});

function messages() {
  const sent: DataPacket[] = [];
  let open = true;
  const made = new Messages(
    { agent: { ...sender, trackSid: 'TR_a' }, user: () => ({ identity: 'user', sid: 'PA_u' }) },
    (bytes) => {
      if (open) sent.push(DataPacket.fromBinary(bytes));
      return open;
    },
  );
  return { made, sent, gate: (state: boolean) => void (open = state) };
}

t.test('transcripts: one stream a reply of the agent, one an update of the user', async (t) => {
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
  t.match(sent.at(-1)?.value, { value: { attributes: { 'lk.transcription_final': 'true' } } });
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

t.test('pacer: a beat that throws is told so, and the others go on', async (t) => {
  const pacer = new Pacer();
  const errors: unknown[] = [];
  let beats = 0;
  const leaveBroken = pacer.join(
    () => {
      throw new Error('broken');
    },
    (error) => {
      errors.push(error);
      leaveBroken();
    },
  );
  const leave = pacer.join(
    () => (beats += 1),
    () => undefined,
  );
  await until('beats have gone by', () => beats > 3);
  leave();
  t.equal(errors.length, 1);
});

t.test('pushed values: in order, weighed while they wait, over when ended', async (t) => {
  const pushed = new Pushed<number>((value) => value);
  pushed.push(1);
  pushed.push(2);
  t.same([pushed.length, pushed.bytes], [2, 3]);
  t.same(await pushed.next(), { done: false, value: 1 });
  t.equal(pushed.bytes, 2);
  pushed.end();
  t.notOk(pushed.push(3));
  t.same(
    [await pushed.next(), await pushed.next()],
    [
      { done: false, value: 2 },
      { done: true, value: undefined },
    ],
  );
  const waiting = new Pushed<number>();
  const next = waiting.next();
  waiting.push(0);
  t.same(await next, { done: false, value: 0 });
  const ending = waiting.next();
  waiting.end();
  t.same(await ending, { done: true, value: undefined });
});
