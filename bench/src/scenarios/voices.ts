/**
 * How good the default engines' voices are: the words that the default recogniser gets wrong of fifty sentences, and how far
 * their sound is from that of speech, a voice after the other, and the first one's in other formats. Takes minutes, so it
 * runs only where it is named.
 */
import { mulawOf, samplesOf } from '../audio/mulaw.js';
import { wavHeader } from '../audio/shape.js';
import { averageSpectrum, bandwidth, offSpeech } from '../audio/spectrum.js';
import { wavOf } from '../audio/wav.js';
import { wordErrorRate } from '../clients/transcription.js';
import { authorizationOf, type Server } from '../servers/server.js';
import type { Context } from './context.js';
import { scenario } from './scenario.js';
import { SENTENCES } from './sentences.js';

interface Format {
  /** `mulaw`: as a telephone carries it. */
  readonly format: 'wav' | 'mp3' | 'mulaw';
  readonly sample_rate: number;
}

interface Parameters {
  readonly sentences: number;
  /** The first is that of the comparison of voices, the others of one of them. */
  readonly formats: readonly Format[];
}

const FORMATS: Parameters['formats'] = [
  { format: 'wav', sample_rate: 16_000 },
  { format: 'wav', sample_rate: 8000 },
  { format: 'wav', sample_rate: 24_000 },
  { format: 'mp3', sample_rate: 44_100 },
  { format: 'mulaw', sample_rate: 8000 },
];

interface Voice {
  readonly _id: string;
  readonly title: string;
}

/** The answer. Throws Error where the gateway refuses. */
async function ask(server: Server, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { ...authorizationOf(server), ...(init.headers as Record<string, string>) };
  const answer = await fetch(server.origin + path, { ...init, headers });
  if (!answer.ok) throw new Error(`${path} was refused with HTTP ${answer.status}`);
  return answer;
}

async function voicesOf(server: Server): Promise<readonly Voice[]> {
  const answer = await ask(server, '/model?language=en&page_size=100');
  return ((await answer.json()) as { readonly items: readonly Voice[] }).items;
}

/** There and back. */
const companded = (pcm: Buffer): Buffer => Buffer.from(samplesOf(mulawOf(pcm)).buffer);

/** The bytes of a file that `/v1/asr` takes. */
async function speech(server: Server, voice: Voice, format: Format, text: string): Promise<Buffer> {
  const isPhone = format.format === 'mulaw';
  const asked = { ...format, ...(isPhone && { format: 'pcm' }) };
  const body = JSON.stringify({ text, reference_id: voice._id, ...asked });
  const headers = { 'content-type': 'application/json' };
  const answer = await ask(server, '/v1/tts', { method: 'POST', headers, body });
  const audio = Buffer.from(await answer.arrayBuffer());
  return isPhone ? wavOf(companded(audio), format.sample_rate) : audio;
}

async function heardIn(server: Server, audio: Buffer): Promise<string> {
  const body = new FormData();
  body.append('audio', new Blob([audio]), 'speech');
  const answer = await ask(server, '/v1/asr', { method: 'POST', body });
  return ((await answer.json()) as { readonly text: string }).text;
}

interface Subject {
  readonly what: string;
  readonly voice: Voice;
  readonly format: Format;
}

/** Gives what was spoken, a file a sentence. */
async function measureErrors(
  context: Context,
  server: Server,
  { what, voice, format }: Subject,
  sentences: readonly string[],
): Promise<readonly Buffer[]> {
  const spoken: Buffer[] = [];
  let [wrong, words] = [0, 0];
  for (const [at, sentence] of sentences.entries()) {
    context.say(`${what}: sentence ${at + 1} of ${sentences.length}`);
    const audio = await speech(server, voice, format, sentence);
    spoken.push(audio);
    const count = sentence.split(' ').length;
    wrong += wordErrorRate(sentence, await heardIn(server, audio)) * count;
    words += count;
  }
  const value = (100 * wrong) / words;
  context.add({ name: `voices.${what}.errors`, unit: '% of words', value, n: words, subject: 'gateway' });
  return spoken;
}

/** `spoken`: WAV files of one rate. */
function measureSpectrum(context: Context, what: string, spoken: readonly Buffer[], rate: number): void {
  const pcm = Buffer.concat(spoken.map((file) => file.subarray(wavHeader(file).from)));
  const samples = Int16Array.from({ length: pcm.length >> 1 }, (_, at) => pcm.readInt16LE(at * 2));
  const spectrum = averageSpectrum(samples);
  const figure = { n: spoken.length, subject: 'gateway' };
  context.add({ ...figure, name: `voices.${what}.off_speech`, unit: 'dB', value: offSpeech(spectrum, rate) });
  context.add({ ...figure, name: `voices.${what}.bandwidth`, unit: 'Hz', value: bandwidth(spectrum, rate) });
}

const nameOf = ({ title }: Voice): string =>
  title
    .toLowerCase()
    .replace(/[^a-z]+/gu, '-')
    .replace(/-$/u, '');

export default scenario<Parameters>({
  name: 'voices',
  title: 'How well the voices are understood, how they sound, and what formats cost',
  isLocal: true,
  onlyByName: true,
  parameters: {
    full: { sentences: SENTENCES.length, formats: FORMATS },
    quick: { sentences: 2, formats: FORMATS },
  },
  async run(context, { sentences: count, formats }) {
    const server = await context.start({});
    const sentences = SENTENCES.slice(0, count);
    const voices = await voicesOf(server);
    const [plain, ...others] = formats;
    const [first] = voices;
    if (!plain || !first) throw new Error('there is no voice of English');
    for (const voice of voices) {
      const what = nameOf(voice);
      const spoken = await measureErrors(context, server, { what, voice, format: plain }, sentences);
      measureSpectrum(context, what, spoken, plain.sample_rate);
    }
    for (const format of others) {
      const what = `${nameOf(first)}-${format.format}-${format.sample_rate}`;
      await measureErrors(context, server, { what, voice: first, format }, sentences);
    }
  },
});
