/** The cost of encoding: seconds of speech encoded per second of CPU, against the ffmpeg program. */
import { encodeCost } from '../baselines/ffmpeg.js';
import { median } from '../histogram.js';
import { doubtsIn, merged, type Phase, requestsIn } from '../measure/phase.js';
import { cpuOf, membersOf } from '../measure/processes.js';
import type { StartedServer } from '../servers/checkout.js';
import { authorizationOf } from '../servers/server.js';
import type { Context } from './context.js';
import { scenario } from './scenario.js';
import { recordAnswer } from './speech/speech-request.js';

interface Codec {
  readonly name: string;
  /** The body of a request, and the same settings as arguments for ffmpeg. */
  readonly body: Readonly<Record<string, string | number>>;
  readonly args: readonly string[];
}

interface Parameters {
  /** Real speech: encoders are quicker with tones and silence. */
  readonly text: string;
  readonly codecs: readonly Codec[];
  readonly requests: number;
  readonly rounds: number;
  /** Requests before anything counts: as FFmpeg's start does not count, nor does the compilation of our code, which takes about 20 of them. */
  readonly warmUp: number;
  /** The audio is given to FFmpeg so many times in a row, so that its start does not count. */
  readonly repeats: number;
}

const SENTENCE = 'The package was delivered to the front door this morning, and the driver left a note. ';
const CODECS: readonly Codec[] = [
  {
    name: 'mp3',
    body: { format: 'mp3', sample_rate: 44_100, mp3_bitrate: 128 },
    args: ['-c:a', 'libmp3lame', '-ar', '44100', '-b:a', '128k', '-f', 'mp3'],
  },
  { name: 'opus', body: { format: 'opus' }, args: ['-c:a', 'libopus', '-ar', '48000', '-f', 'ogg'] },
];

const FULL: Parameters = {
  text: SENTENCE.repeat(6),
  codecs: CODECS,
  requests: 6,
  rounds: 5,
  warmUp: 24,
  repeats: 10,
};
const QUICK: Parameters = { ...FULL, text: SENTENCE, requests: 2, rounds: 1, warmUp: 2 };

const PCM_RATE = 16_000;
const ENCODERS = 'workers/encode';

/** A request of speech whose loudness stays as it is: FFmpeg's program does not change it either. */
const requestOf = (server: StartedServer, text: string, format: object) => ({
  url: `${server.origin}/v1/tts`,
  headers: { ...authorizationOf(server), 'content-type': 'application/json' },
  body: JSON.stringify({ text, prosody: { normalize_loudness: false }, ...format }),
});

/** The gateway's answers are as long as its PCM. */
async function recordPcm(server: StartedServer, text: string): Promise<Buffer> {
  const format = { format: 'pcm', sample_rate: PCM_RATE };
  return (await recordAnswer({ request: requestOf(server, text, format) })).body;
}

interface Round {
  readonly phase: Phase;
  /** Seconds of speech for a second of CPU. */
  readonly own: number;
  readonly ffmpeg: number | undefined;
}

async function measureOnce(
  context: Context,
  server: StartedServer,
  pcm: Buffer,
  { name, body, args }: Codec,
  { text, requests, repeats }: Parameters,
): Promise<Round> {
  const seconds = pcm.length / 2 / PCM_RATE;
  const request = requestOf(server, text, body);
  const encoders = membersOf(server.pid, ENCODERS);
  const spent = (): number => encoders.reduce((sum, pid) => sum + cpuOf(pid), 0) / 1000;
  const before = spent();
  const load = { concurrency: 2, requests };
  const phase = await context.load(server, `speech as ${name}`, 'bytes', { request }, load);
  const own = (seconds * requests) / (spent() - before);
  const cost = await encodeCost(Buffer.concat(Array<Buffer>(repeats).fill(pcm)), PCM_RATE, args);
  return { phase, own, ffmpeg: cost === undefined ? undefined : (seconds * repeats) / cost };
}

function report(context: Context, { name }: Codec, rounds: readonly Round[]): void {
  const phase = merged(rounds.map((round) => round.phase));
  const known = rounds.flatMap(({ ffmpeg }) => ffmpeg ?? []);
  const baseline = known.length === 0 ? undefined : { name: 'ffmpeg, all at once', value: median(known) };
  const doubts = [
    ...doubtsIn(phase),
    ...(baseline === undefined ? ['there is no ffmpeg to compare with'] : []),
  ];
  const value = median(rounds.map(({ own }) => own));
  context.add({
    name: `codecs.${name}`,
    subject: 'gateway',
    unit: 's a CPU second',
    n: requestsIn(phase),
    value,
    baseline,
    doubts,
  });
}

export default scenario<Parameters>({
  name: 'codecs',
  title: 'What encoding costs, against FFmpeg’s program',
  isLocal: true,
  parameters: { full: FULL, quick: QUICK },
  async run(context, parameters) {
    const server = await context.start({});
    const pcm = await recordPcm(server, parameters.text);
    for (const codec of parameters.codecs) {
      const rounds: Round[] = [];
      await measureOnce(context, server, pcm, codec, {
        ...parameters,
        requests: parameters.warmUp,
        repeats: 1,
      });
      for (let round = 0; round < parameters.rounds; round += 1)
        rounds.push(await measureOnce(context, server, pcm, codec, parameters));
      report(context, codec, rounds);
    }
  },
});
