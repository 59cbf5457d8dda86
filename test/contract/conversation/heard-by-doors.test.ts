/**
 * What a client has heard of an agent, what the record says and what was recorded agree to a word, by whichever door it came: the
 * realtime socket in its formats, WebRTC, ElevenLabs' conversations. Each agent is interrupted in the middle of a sentence.
 */
import t from '../../fixtures/tap.js';
import { Decoder } from '@evan/opus';
import type { Test } from 'tap';
import { joinSamples, RECOGNITION_RATE, samplesOf } from '../../../contracts/audio.js';
import { codecFor } from '../../../media/phone/codecs.js';
import { letGo } from '../../fixtures/calls/caller.js';
import { said } from '../../fixtures/chat/model.js';
import { messagesOf, type Record, Talks } from '../../fixtures/conversation/conversation.js';
import { connectAgent } from '../../fixtures/protocol-a/agent-client.js';
import { RtcClient } from '../../fixtures/protocol-a/rtc-client.js';
import { converse, RATE as CONVAI_RATE } from '../../fixtures/protocol-b/conversation-client.js';
import { pagesOf } from '../../fixtures/recordings/ogg-pages.js';
import { wordsIn } from '../../fixtures/speech/tone-words.js';
import { until } from '../../fixtures/until.js';

t.teardown(letGo);
const { talks } = await Talks.shared(t);
const { model, gateway } = talks;

/** Sentences of about a second each: more than are heard, however late a busy machine notices the interruption. */
const COUNTED = Array.from({ length: 60 }, (_, index) => `Here is number ${index + 10} now.`).join(' ');
const [GREETING, ANSWERED] = ['Hello there.', 'Stopped.'];
model.answer((messages) => (said(messages).includes('Count') ? COUNTED : ANSWERED));

/** A client in a conversation. */
interface Client {
  readonly id: string;
  say(text: string): Promise<void>;
  /** Seconds of the agent's voice so far, and the words in it, the last of each answer perhaps in part. */
  seconds(): number;
  heard(): string[];
  /** What it was told of what the agent has said so far, a text for each answer that is over. */
  told(): readonly string[];
  /** Whether sound may be lost on its way, where a machine is busy. */
  readonly isLossy?: true;
  /** Says what its player had played of that answer; returns these words. */
  truncate?(): Promise<string[]>;
  leave(): void;
}

type Door = (t: Pick<Test, 'teardown' | 'equal'>, agentId: string) => Promise<Client>;

const LINES = {
  'audio/pcm': { codec: 'linear', rate: 24_000 },
  'audio/pcmu': { codec: 'mulaw', rate: 8000 },
  'audio/pcma': { codec: 'alaw', rate: 8000 },
} as const;
type Format = keyof typeof LINES;

/** Behind that much of the answer the client had stopped its player. */
const PLAYED_MS = 1500;

const realtime =
  (input: Format, output: Format, truncates = false): Door =>
  async (t, agentId) => {
    const client = await connectAgent(t, talks, agentId);
    const audio = { input: { format: { type: input } }, output: { format: { type: output } } };
    client.update({ type: 'realtime', audio });
    await client.next('session.updated');
    const { rate } = LINES[output];
    const samples = (response?: unknown): Int16Array =>
      codecFor(LINES[output]).decode(client.audio(response));
    const truncate = async (): Promise<string[]> => {
      // The second one, behind the greeting: by now the next answer may have begun as well.
      const deltas = client.of('response.output_audio.delta');
      const [, response] = [...new Set(deltas.map(({ response_id: id }) => id))];
      const { item_id: item } = deltas.find(({ response_id: id }) => id === response)!;
      const played = { item_id: item, content_index: 0, audio_end_ms: PLAYED_MS };
      client.send({ type: 'conversation.item.truncate', ...played });
      await client.next('conversation.item.truncated');
      return wordsIn(samples(response).subarray(0, (rate * PLAYED_MS) / 1000), rate);
    };
    client.listen(LINES[input]);
    return {
      id: client.sessionId,
      say: async (text) => client.speak(await talks.speech(text, LINES[input].rate)),
      seconds: () => samples().length / rate,
      heard: () => wordsIn(samples(), rate),
      told: () => client.heard,
      ...(truncates && { truncate }),
      leave: () => client.socket.close(1000),
    };
  };

/** What a client by WebRTC has heard comes in windows. */
const WINDOW_SECONDS = 0.1;
const isLoud = (samples: Int16Array): boolean => samples.some((sample) => Math.abs(sample) > 600);

const webrtc: Door = async (t, agentId) => {
  const client = new RtcClient();
  t.teardown(() => client.close());
  const response = await client.call(gateway, { query: `?model=${agentId}` });
  t.equal(response.status, 201);
  client.listen();
  return {
    id: response.headers.get('location')?.split('/').at(-1) ?? '',
    say: async (text) => client.speak(await talks.speech(text)),
    seconds: () => client.heardSamples.filter(isLoud).length * WINDOW_SECONDS,
    heard: () => wordsIn(joinSamples(client.heardSamples)),
    told: () => client.heard,
    isLossy: true,
    leave: () => client.close(),
  };
};

const elevenlabs: Door = async (t, agentId) => {
  const client = await converse(t, talks, { query: `?agent_id=${agentId}` });
  const id = await client.initiate();
  client.listen();
  return {
    id,
    say: async (text) => client.speak(await talks.speech(text, CONVAI_RATE)),
    seconds: () => client.audio().length / 2 / CONVAI_RATE,
    heard: () => wordsIn(samplesOf(client.audio()), CONVAI_RATE),
    // Its texts are whole until they are corrected.
    told: () => client.answers.filter((answer) => answer !== COUNTED),
    leave: () => client.socket.close(1000),
  };
};

const DOORS: { readonly [name: string]: Door } = {
  'the realtime socket': realtime('audio/pcm', 'audio/pcm'),
  'the realtime socket, and the client says what it has played': realtime('audio/pcm', 'audio/pcm', true),
  'the realtime socket, in µ-law and A-law': realtime('audio/pcmu', 'audio/pcma'),
  WebRTC: webrtc,
  'ElevenLabs’ conversations': elevenlabs,
};

const wordsOf = (text: string): string[] => text.split(' ').filter(Boolean);

const behindGreeting = (words: readonly string[]): string[] => words.slice(wordsOf(GREETING).length);

/** The words of a side of a recording. */
async function recorded(id: string): Promise<{ readonly [role: string]: string[] }> {
  const { tracks } = await until('the recording is whole', async () => {
    const { body } = await talks.call(`sessions/${id}/recording`);
    return body['status'] === 'complete' && (body as { tracks: { role: string; url: string }[] });
  });
  const words = async ({ role, url }: (typeof tracks)[number]) => {
    const [, , ...pages] = pagesOf(Buffer.from(await (await fetch(url)).arrayBuffer()));
    const decoder = new Decoder({ channels: 1, sample_rate: RECOGNITION_RATE });
    const packets = pages.flatMap((page) => page.packets.map((packet) => samplesOf(decoder.decode(packet))));
    return [role, wordsIn(joinSamples(packets))] as const;
  };
  return Object.fromEntries(await Promise.all(tracks.map(words)));
}

/** Of the answer that was cut off; the last word counts as heard from its middle on. */
function agree(t: Test, what: string, words: readonly string[], told: readonly string[], most: number): void {
  const own = words.filter((word) => !ANSWERED.startsWith(word));
  const whole = told.slice(0, -1);
  t.strictSame(own.slice(0, whole.length), whole, `${what}: ${own.join(' ')}`);
  t.ok(own.length <= told.length + most, `${what}: ${own.length} words of ${told.length}`);
}

/** The same where sound may have been lost before. */
function endAlike(t: Test, words: readonly string[], told: readonly string[]): void {
  const own = words.filter((word) => !ANSWERED.startsWith(word)).join(' ');
  const last = told.slice(-4, -1).join(' ');
  t.ok(own.includes(last), `the sound that came: ${own}`);
  t.ok(wordsOf(own.slice(own.lastIndexOf(last))).length <= 7, `and little behind ${last}`);
}

for (const [name, door] of Object.entries(DOORS))
  t.test(name, async (t) => {
    const prompt = { first_message_mode: 'fixed', first_message: GREETING };
    const agentId = await talks.agent({ prompt, conversation: { record_audio: true } });
    const client = await door(t, agentId);
    const untilSaid = (text: string): Promise<unknown> =>
      until(`${text} is heard`, async () => {
        const { status, body } = await talks.call(`sessions/${client.id}`);
        return status === 200 && messagesOf(body as unknown as Record).at(-1) === `assistant: ${text}`;
      });
    await untilSaid(GREETING);
    await client.say('Count.');
    await until('two sentences are heard', () => client.seconds() > 4);
    await client.say('Stop it now, please.');
    await until('it is interrupted', () => client.told().length > 1);
    const played = await client.truncate?.();
    await untilSaid(ANSWERED);
    client.leave();
    const record = await talks.ended({ session_id: client.id });
    const [, asked, answer = '', stop, ...rest] = messagesOf(record);
    const told = wordsOf(client.told()[1] ?? '');
    t.same([asked, stop, rest], ['user: Count.', 'user: Stop it now, please.', [`assistant: ${ANSWERED}`]]);
    const kept = wordsOf(answer.replace('assistant: ', ''));
    if (played) agree(t, 'what its player had played', played, kept, 1);
    else t.strictSame(told, kept, 'the client was told what the record has');
    if (client.isLossy) endAlike(t, client.heard(), kept);
    else if (!played) agree(t, 'the sound that came', behindGreeting(client.heard()), kept, 3);
    const { agent = [], user = [] } = await recorded(client.id);
    agree(t, 'the recording', behindGreeting(agent), played ? told : kept, 2);
    t.ok(agent.at(-1)?.startsWith('Stop'), 'and the next answer');
    t.strictSame(user, ['Count.', 'Stop', 'it', 'now,', 'please.']);
  });
