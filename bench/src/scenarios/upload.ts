/** One large upload: for how long the event loop is held up meanwhile, and how much memory it takes. */
import { setTimeout as pause } from 'node:timers/promises';
import { wavOf } from '../audio/wav.js';
import { median } from '../histogram.js';
import { doubtsIn, failedIn, merged, type Phase } from '../measure/phase.js';
import { residentOf, watchResident } from '../measure/watch-memory.js';
import { type StartedServer, TONE } from '../servers/checkout.js';
import { readLoop } from '../servers/metrics.js';
import type { Context } from './context.js';
import { scenario } from './scenario.js';
import { transcriptionOf } from './transcription-request.js';

interface Parameters {
  readonly mebibytes: number;
  readonly rounds: number;
}

const FULL: Parameters = { mebibytes: 99, rounds: 3 };
const QUICK: Parameters = { mebibytes: 20, rounds: 1 };

/** 99 MiB are nine minutes. */
const RATE = 96_000;
const MiB = 1024 * 1024;
const IDLE_MS = 2000;
const DEADLINE_MS = 300_000;

interface Round {
  readonly phase: Phase;
  /** Milliseconds of the longest stall, idle and meanwhile. */
  readonly idle: number;
  readonly stall: number;
  /** MiB above idle. */
  readonly memory: number;
}

async function measureOnce(
  context: Context,
  server: StartedServer,
  { mebibytes }: Parameters,
): Promise<Round> {
  const pcm = Buffer.alloc(mebibytes * MiB - MiB / 2);
  const recording = { audio: wavOf(pcm, RATE), duration: pcm.length / 2 / RATE, spoken: '' };
  const params = transcriptionOf(server, 'native', recording, 0);
  await readLoop(server);
  await pause(IDLE_MS);
  const [idle, before, most] = [
    (await readLoop(server)).max,
    residentOf(server.pid),
    watchResident(server.pid),
  ];
  const load = { concurrency: 1, requests: 1 };
  const phase = await context.load(server, `${mebibytes} MiB of silence`, 'transcription', params, load, {
    deadline: DEADLINE_MS,
  });
  return { phase, idle, stall: (await readLoop(server)).max, memory: most() - before };
}

export default scenario<Parameters>({
  name: 'upload',
  title: 'One large upload: stalls of the event loop, and memory',
  isLocal: true,
  parameters: { full: FULL, quick: QUICK },
  async run(context, parameters) {
    const server = await context.start(TONE);
    await measureOnce(context, server, { ...parameters, mebibytes: 1 });
    const measured: Round[] = [];
    for (let round = 0; round < parameters.rounds; round += 1)
      measured.push(await measureOnce(context, server, parameters));
    const phase = merged(measured.map((round) => round.phase));
    const common = { subject: 'gateway', n: parameters.rounds, doubts: doubtsIn(phase) };
    const of = (pick: (round: Round) => number): number => median(measured.map(pick));
    const idle = { name: 'the same idle', value: of((round) => round.idle) };
    context.add(
      { ...common, name: 'upload.stall', unit: 'ms', value: of(({ stall }) => stall), baseline: idle },
      { ...common, name: 'upload.memory', unit: 'MiB', value: of(({ memory }) => memory) },
      { ...common, name: 'upload.failed', unit: '', value: failedIn(phase), doubts: [] },
    );
  },
});
