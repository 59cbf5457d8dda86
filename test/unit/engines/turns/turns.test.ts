/**
 * The end-of-turn model (engines/turns): its input, compared with that of the library which its makers use; and what
 * conversations get if it is late, busy, broken or cancelled.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from '../../../../contracts/places.js';
import t from '../../../fixtures/tap.js';
import { bytesOf } from '../../../../contracts/audio.js';
import { ServiceError } from '../../../../contracts/errors.js';
import { type Log, silentLog } from '../../../../contracts/log.js';
import type { JobRunner } from '../../../../contracts/ports/jobs.js';
import type { SessionPlan } from '../../../../contracts/ports/sessions/sessions.js';
import { DETECTORS, type TurnModel } from '../../../../contracts/ports/speech/turns.js';
import { type AgentConfig, DEFAULT_CONFIG } from '../../../../contracts/schemas/agent-config.js';
import { BANDS, featuresOf, FRAMES, SAMPLES } from '../../../../engines/turns/features.js';
import { lastOf, MOST_BYTES, TURN_JOB, turnJobs } from '../../../../engines/turns/jobs.js';
import { TurnModelInChild, WITHIN_MS } from '../../../../engines/turns/model-in-child.js';
import { readConfig } from '../../../../gateway/config.js';
import { settingsOf } from '../../../../gateway/agents/conversations/settings.js';
import { TurnSound } from '../../../../gateway/agents/conversations/listening/turn-sound.js';
import { SimulatedClock } from '../../../fixtures/clock.js';
import { exactly, rejectsExactly, throwsExactly } from '../../../fixtures/exactly.js';
import { Hosted } from '../../../fixtures/conversation/hosted.js';
import { until } from '../../../fixtures/until.js';

interface Known {
  readonly samples: number;
  readonly mean: number;
  readonly values: readonly (readonly [band: number, frame: number, value: number])[];
}

const KNOWN = JSON.parse(
  readFileSync(new URL('test/fixtures/engines/turn-features.json', CHECKOUT), 'utf8'),
) as Readonly<Record<'whole' | 'short', Known>>;

/** A tone with rising pitch and pulsing level, over a little noise. */
function signal(length: number): Int16Array {
  let seed = 1;
  return Int16Array.from({ length }, (_, index) => {
    seed = (seed * 48_271) % 2_147_483_647;
    const at = index / 16_000;
    const tone = Math.sin(2 * Math.PI * (150 + 120 * at) * at) * (1 + Math.sin(2 * Math.PI * 3 * at));
    return Math.round(6000 * tone + 400 * (seed / 2_147_483_647 - 0.5));
  });
}

for (const [name, { samples, mean, values }] of Object.entries(KNOWN).filter(([key]) => key !== 'about'))
  t.test(`features are those that the model was made with: ${name}`, async (t) => {
    const features = featuresOf(signal(samples));
    t.equal(features.length, BANDS * FRAMES);
    const near = (found: number, wanted: number): boolean => Math.abs(found - wanted) < 2e-3;
    for (const [band, frame, value] of values) {
      const found = features[band * FRAMES + frame] ?? NaN;
      t.ok(near(found, value), `band ${band}, frame ${frame}: ${found}, wanted ${value}`);
    }
    const sum = features.reduce((total, value) => total + value, 0);
    t.ok(near(sum / features.length, mean), `mean ${sum / features.length}, wanted ${mean}`);
  });

t.test('silence and empty audio have finite features', async (t) => {
  for (const audio of [new Int16Array(SAMPLES), new Int16Array(0)])
    t.ok(
      featuresOf(audio).every((value) => Number.isFinite(value)),
      `${audio.length} samples`,
    );
});

const FOREVER = new AbortController().signal;
const AUDIO = [new Uint8Array(3200)];

interface Asked {
  readonly model: TurnModelInChild;
  readonly clock: SimulatedClock;
  /** Bytes of audio of each job. */
  readonly jobs: number[];
  readonly warnings: string[];
}

/** A model whose child answers each job with `answer`. */
function asked(answer: (signal: AbortSignal) => Promise<unknown>): Asked {
  const clock = new SimulatedClock();
  const jobs: number[] = [];
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (_, message) => warnings.push(message) };
  const runner: JobRunner = {
    async *runJob(job, _args, { input, signal }) {
      let bytes = 0;
      for await (const value of input ?? []) bytes += (value as Uint8Array).length;
      if (job === TURN_JOB) jobs.push(bytes);
      const value = await answer(signal);
      if (bytes > 0) yield value;
    },
  };
  return { model: new TurnModelInChild(runner, clock, log), clock, jobs, warnings };
}

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

t.test('the model tells the probability that the child answers', async (t) => {
  const { model, jobs } = asked(() => Promise.resolve(0.25));
  t.equal(await model.probability(AUDIO, 'ws', FOREVER), 0.25);
  t.same(jobs, [3200]);
  exactly(t, model.answers, { known: 1, failed: 0 });
});

t.test('an answer that takes longer than WITHIN_MS is given up and counted as late', async (t) => {
  const { model, clock, jobs } = asked(untilAborted);
  const told = model.probability(AUDIO, 'ws', FOREVER);
  await until('it is asked', () => jobs.length === 1);
  clock.advance(WITHIN_MS);
  t.equal(await told, undefined);
  exactly(t, model.answers, { late: 1, failed: 0 });
});

t.test('when the speaker goes on, the question is dropped, and that is no failure', async (t) => {
  const { model, jobs, warnings } = asked(untilAborted);
  const goesOn = new AbortController();
  const told = model.probability(AUDIO, 'ws', goesOn.signal);
  await until('it is asked', () => jobs.length === 1);
  goesOn.abort();
  t.equal(await told, undefined);
  exactly(t, model.answers, { dropped: 1, late: 0, failed: 0 });
  t.same(warnings, []);
});

t.test('a child whose queue is full counts as busy, not as a failure', async (t) => {
  const { model, warnings } = asked(() => Promise.reject(new ServiceError('engine_busy')));
  t.equal(await model.probability(AUDIO, 'ws', FOREVER), undefined);
  exactly(t, model.answers, { busy: 1, failed: 0 });
  t.same(warnings, []);
});

t.test('a child that fails gives no answer, and is logged once until it answers again', async (t) => {
  let works = false;
  const { model, warnings } = asked(() =>
    works ? Promise.resolve(1) : Promise.reject(new ServiceError('engine_lost')),
  );
  for (let time = 0; time < 3; time += 1) t.equal(await model.probability(AUDIO, 'ws', FOREVER), undefined);
  t.same(warnings, ['the model of ends of turns failed: the tables decide']);
  works = true;
  t.equal(await model.probability(AUDIO, 'ws', FOREVER), 1);
  works = false;
  await model.probability(AUDIO, 'ws', FOREVER);
  t.equal(warnings.length, 2);
  exactly(t, model.answers, { known: 1, failed: 4 });
});

t.test('the child gets the last eight seconds of audio, and no more', async (t) => {
  const { model, jobs } = asked(() => Promise.resolve(1));
  await model.probability(
    [new Uint8Array(MOST_BYTES), new Uint8Array(200), new Uint8Array(100)],
    'ws',
    FOREVER,
  );
  t.same(jobs, [MOST_BYTES]);
  const chunks = [1, 2, 3].map((value) => Uint8Array.of(value, value));
  t.same(
    lastOf(chunks, 3).flatMap((chunk) => [...chunk]),
    [2, 3, 3],
  );
  t.same(lastOf(chunks, 100), chunks);
});

async function* values(...samples: Int16Array[]): AsyncGenerator<Uint8Array> {
  for (const each of samples) yield bytesOf(each);
}

async function perform(jobs: ReturnType<typeof turnJobs>, ...samples: Int16Array[]): Promise<unknown[]> {
  const told: unknown[] = [];
  const job = jobs[TURN_JOB]!;
  for await (const value of job(null as never, values(...samples), { signal: FOREVER })) told.push(value);
  return told;
}

t.test('the child loads its model with the first job, and judges the end of the audio', async (t) => {
  let loads = 0;
  const given: Int16Array[] = [];
  const jobs = turnJobs(() => {
    loads += 1;
    return (samples) => given.push(samples) / 10;
  });
  t.equal(loads, 0);
  t.same(await perform(jobs), [], 'a job without audio has it loaded');
  t.equal(loads, 1);
  t.same(await perform(jobs, new Int16Array(SAMPLES), Int16Array.of(1, 2)), [0.1]);
  t.same(await perform(jobs, Int16Array.of(3)), [0.2]);
  t.equal(loads, 1);
  t.equal(given[0]?.length, SAMPLES);
  t.same(given[0]?.subarray(-2), Int16Array.of(1, 2));
});

t.test('a model that cannot be loaded fails the job, and the next job loads it again', async (t) => {
  const gone = new Error('there is no such file');
  let broken = true;
  const jobs = turnJobs(() => {
    if (broken) throw gone;
    return () => 0.5;
  });
  const logged = t.capture(console, 'error');
  await rejectsExactly(t, perform(jobs, Int16Array.of(1)), { code: 'engine_failed' });
  t.strictSame(logged.args(), [[gone]], 'its reason is for the log');
  broken = false;
  t.same(await perform(jobs, Int16Array.of(1)), [0.5]);
});

/** A model that answers what the test says, when it says so. */
class Listener implements TurnModel {
  prepared = 0;
  readonly asked: { bytes: number; signal: AbortSignal; tell(probability: number | undefined): void }[] = [];

  prepare(): void {
    this.prepared += 1;
  }

  probability(
    chunks: readonly Uint8Array[],
    _workspaceId: string,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
    return new Promise((tell) => this.asked.push({ bytes, signal, tell }));
  }
}

t.test(
  'a turn of several stretches is judged as a whole, up to eight seconds, and the next turn on its own',
  async (t) => {
    const model = new Listener();
    const sound = new TurnSound(model, 'ws', () => undefined);
    const second = new Uint8Array(32_000);
    void sound.ended(1, [second]);
    void sound.ended(2, [second, second]);
    void sound.ended(
      3,
      Array.from({ length: 9 }, () => second),
    );
    sound.turnOver();
    void sound.ended(4, [second]);
    t.same(
      model.asked.map(({ bytes }) => bytes / 32_000),
      [1, 3, 8, 1],
    );
    t.equal(model.prepared, 1, 'loaded as the call begins');
  },
);

t.test('when the user goes on, the verdict on the stretch is dropped and reported to nobody', async (t) => {
  const model = new Listener();
  const told: (number | undefined)[][] = [];
  const sound = new TurnSound(model, 'ws', (...answer) => told.push(answer));
  const first = sound.ended(1, AUDIO);
  sound.goesOn();
  t.ok(model.asked[0]?.signal.aborted);
  model.asked[0]?.tell(1);
  await first;
  const second = sound.ended(2, AUDIO);
  model.asked[1]?.tell(undefined);
  await second;
  t.same(told, [[2, undefined]]);
});

t.test('LLM_DRAFTS=off turns off the drafts of every agent', async (t) => {
  const drafts = (own: boolean, gateway: boolean): boolean => {
    const config = { ...DEFAULT_CONFIG, conversation: { ...DEFAULT_CONFIG.conversation, drafts: own } };
    return settingsOf({ config } as SessionPlan, { drafts: gateway }).drafts;
  };
  t.strictSame([drafts(true, true), drafts(false, true), drafts(true, false)], [true, false, false]);
});

t.test('an agent chooses its detector if there is a model, and gets the tables if not', async (t) => {
  const chosen = (turn_detector: AgentConfig['conversation']['turn_detector'], usual?: 'audio' | 'both') => {
    const config = { ...DEFAULT_CONFIG, conversation: { ...DEFAULT_CONFIG.conversation, turn_detector } };
    return settingsOf({ config } as SessionPlan, { detector: usual, drafts: true }).detector;
  };
  for (const usual of ['audio', 'both'] as const) {
    t.equal(chosen('auto', usual), usual);
    for (const wanted of DETECTORS) t.equal(chosen(wanted, usual), wanted);
  }
  for (const wanted of ['auto', ...DETECTORS] as const) t.equal(chosen(wanted), 'tables');
});

t.test('a conversation has the model judge each stretch, and tells its machine', async (t) => {
  const model = new Listener();
  const hosted = new Hosted(t, { hears: ['What time is it?'], turns: { detector: 'both', model } });
  hosted.happen({ kind: 'connected' });
  hosted.speak();
  await until('it is asked', () => model.asked.length === 1);
  t.equal(model.asked[0]?.bytes, 16_000, 'the stretch of voice as it came');
  model.asked[0]?.tell(0.9);
  await until('it is answered', () => hosted.items.length >= 1);
  t.equal(hosted.messages[0], 'user: What time is it?');
});

t.test(
  'TURN_DETECTOR auto takes the model if it was added, and a wanted model that is absent is refused',
  async (t) => {
    const folder = t.testdir({ catalogue: { 'smart-turn-v3': {} } });
    const env = (detector?: string) => ({ MODELS_DIR: folder, ...(detector && { TURN_DETECTOR: detector }) });
    const turns = (detector?: string) => readConfig(env(detector)).turns;
    t.equal(turns(), undefined);
    t.equal(turns('tables'), undefined);
    for (const detector of ['audio', 'both'])
      throwsExactly(t, () => turns(detector), {
        message: /TURN_DETECTOR.* npm run models -- add smart-turn-v3/,
      });
    throwsExactly(t, () => turns('guess'), { message: /TURN_DETECTOR must be one of/ });
    const place = join(folder, 'catalogue', 'smart-turn-v3');
    writeFileSync(join(place, '.model.json'), JSON.stringify({ task: 'turns', added: '2026' }));
    writeFileSync(join(place, 'smart-turn-v3.2-cpu.onnx'), '');
    t.equal(turns(), undefined, 'its runtime is not there');
    writeFileSync(join(place, 'onnxruntime_binding.node'), '');
    t.strictSame(turns(), { detector: 'both', folder: place });
    t.strictSame(turns('audio'), { detector: 'audio', folder: place });
    t.equal(turns('tables'), undefined);
  },
);
