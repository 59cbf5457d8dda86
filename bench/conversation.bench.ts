/**
 * Conversations over the embedded transport, with callers that send audio all the time: how long an answer takes beyond
 * the endpointing delay, how long from barge-in to silence, how well turns and interruptions are told from noise, how
 * many calls a core carries, and what a call leaves behind. The language model answers at once.
 * CONVERSATION_ROUNDS, CONVERSATION_CALLS and CONVERSATION_SESSIONS set the scale.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ENDPOINTING_MS } from '../actors/agent/turns/endpointing.js';
import { type Caller, CALLER_RATE, letGo } from '../test/fixtures/caller.js';
import { Talks } from '../test/fixtures/conversation.js';
import { commandOf, familyOf, memberOf } from '../test/fixtures/family.js';
import { EMBEDDED, TONE } from '../test/fixtures/gateway.js';
import { said } from '../test/fixtures/model.js';
import { until } from '../test/fixtures/until.js';
import { resourcesOf, talkAndEnd } from '../test/fixtures/endurance.js';
import { INSPECTABLE, Inspected } from './inspected.js';
import { cpuMs, median, quantile, row } from './measure.js';

const ROUNDS = Number(process.env['CONVERSATION_ROUNDS'] ?? 12);
const CALLS = Number(process.env['CONVERSATION_CALLS'] ?? 40);
const SESSIONS = Number(process.env['CONVERSATION_SESSIONS'] ?? 200);

/** Silence after which either voice activity detector reports the end of speech. */
const NOTICE_MS = 250;
/** Amplitude of 16-bit samples below which audio counts as silence. */
const AUDIBLE = 100;
/** A pause of the agent between two words is shorter. */
const SILENT_MS = 1000;
const LONG = Array.from({ length: 60 }, (_, index) => `word number ${index + 10}`).join(', ');
const CPU_SECONDS = 20;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Idle connections have been let go by then. */
const SETTLE_MS = 6000;

const started: (() => unknown)[] = [];
const lifetime = { teardown: (stop: () => unknown) => void started.unshift(stop) };
async function stopAll(): Promise<void> {
  for (const stop of started.splice(0)) await stop();
}

const QUESTION = 'What time do you open?';

/** Milliseconds from the end of the user's speech to the first sound of the agent, less what is waited on purpose. */
async function answerDelays(talks: Talks): Promise<number[]> {
  talks.model.answer(() => 'At nine in the morning.');
  const { caller } = await talks.meet({ conversation: { eagerness: 'balanced' } });
  const delays: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const samples = await talks.speech(QUESTION);
    // The recording ends in silence: the last audible sample is the end of speech.
    const last = samples.findLastIndex((sample) => Math.abs(sample) > AUDIBLE);
    const end = (await caller.say(samples)) - ((samples.length - last) * 1000) / CALLER_RATE;
    const first = await until('the agent answers', () => caller.audible(end)[0]?.at, 8000).catch(
      () => undefined,
    );
    if (first !== undefined) delays.push(first - end - NOTICE_MS - ENDPOINTING_MS.balanced.complete);
    await until('it listens again', () => caller.states.at(-1) === 'listening');
    await pause(300);
  }
  caller.hangUp();
  return delays;
}

/** Milliseconds from the beginning of the user's voice until nothing of the agent is heard any more. */
async function bargeIns(talks: Talks, sensitivity: string): Promise<number[]> {
  talks.model.answer((messages) => (said(messages) === 'Count' ? LONG : 'Yes?'));
  const times: number[] = [];
  for (let round = 0; round < Math.ceil(ROUNDS / 3); round += 1) {
    const { caller } = await talks.meet({ conversation: { interruption_sensitivity: sensitivity } });
    caller.send({ type: 'user.message', text: 'Count' });
    await until('it is heard', () => caller.audible().length > 40);
    const samples = await talks.speech('No, stop that right now please.');
    const lead = (samples.findIndex((sample) => Math.abs(sample) > AUDIBLE) * 1000) / CALLER_RATE;
    const begun = performance.now() + lead;
    await caller.say(samples);
    await pause(SILENT_MS);
    const silent = silenceBehind(caller, begun);
    if (silent !== undefined) times.push(silent - begun);
    caller.hangUp();
  }
  return times;
}

/** When the agent fell silent for good behind `from`. */
function silenceBehind(caller: Caller, from: number): number | undefined {
  const frames = caller.audible(from);
  return frames.find(({ at }, index) => (frames[index + 1]?.at ?? Infinity) - at > SILENT_MS)?.at;
}

interface Detections {
  readonly found: number;
  readonly of: number;
}
const share = ({ found, of }: Detections): number => (of === 0 ? Number.NaN : (100 * found) / of);

const SAID = [
  'We are open from nine in the morning until six in the evening.',
  'I would like to book a table for four people.',
  'Could you tell me your last name?',
  'Please send the package to the front door.',
  'Thank you, that is all I wanted to know.',
];
const INTERRUPTIONS = [
  'No, stop that right now please.',
  'Wait, I have another question.',
  'Please speak about the weather.',
];
/** Backchannels, which must not interrupt the agent at `balanced`. */
const HARMLESS = ['Okay.', 'Yeah, right.', 'I see.', 'Yes.', 'Sure, okay.', 'Got it.', 'Great.'];
const COUGH_MS = 300;

/** A burst of noise that dies away. */
function cough(): Int16Array {
  const length = (COUGH_MS * CALLER_RATE) / 1000;
  return new Int16Array(length).map((_, index) => (Math.random() - 0.5) * 24_000 * (1 - index / length));
}

/** Turns that were answered, each once and not before their end, and how long after their end. */
async function turnEnds(
  talks: Talks,
): Promise<Detections & { readonly delays: number[]; readonly early: number }> {
  talks.model.answer(() => 'I see.');
  const { caller } = await talks.meet({ conversation: { eagerness: 'balanced' } });
  const delays: number[] = [];
  let early = 0;
  for (const text of SAID) {
    const begun = performance.now();
    const end = await talks.say(caller, text);
    if (caller.audible(begun).some(({ at }) => at < end - 200)) early += 1;
    const first = await until('it answers', () => caller.audible(end)[0]?.at, 8000).catch(() => undefined);
    if (first !== undefined) delays.push(first - end);
    await until('it listens', () => caller.states.at(-1) === 'listening', 8000).catch(() => undefined);
    await pause(500);
  }
  caller.hangUp();
  return { found: delays.length, of: SAID.length, delays, early };
}

/** How often the agent is cut short by what is said while it speaks, and how long after its beginning it is silent. */
async function yields(
  talks: Talks,
  sounds: readonly Int16Array[],
): Promise<Detections & { readonly delays: number[] }> {
  talks.model.answer((messages) => (said(messages) === 'Count' ? LONG : 'Yes?'));
  const delays: number[] = [];
  let found = 0;
  for (const samples of sounds) {
    const { caller, invite } = await talks.meet({ conversation: { interruption_sensitivity: 'balanced' } });
    caller.send({ type: 'user.message', text: 'Count' });
    await until('it is heard', () => caller.audible().length > 60);
    const begun = performance.now();
    await caller.say(samples);
    await pause(2500);
    const { items } = await talks.record(invite);
    const silent = silenceBehind(caller, begun);
    if (items.some(({ role }) => role === 'assistant')) found += 1;
    if (silent !== undefined) delays.push(silent - begun);
    caller.hangUp();
  }
  return { found, of: sounds.length, delays };
}

const spoken = (talks: Talks, texts: readonly string[]): Promise<Int16Array[]> =>
  Promise.all(texts.map((text) => talks.speech(text)));

class Load {
  readonly #child: ChildProcess;
  readonly #lines: Interface;

  constructor() {
    const script = fileURLToPath(new URL('./conversation-load.js', import.meta.url));
    this.#child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface({ input: this.#child.stdout! });
  }

  async do(task: object): Promise<{ frames: number; late: number }> {
    this.#child.stdin?.write(`${JSON.stringify(task)}\n`);
    const [line] = (await once(this.#lines, 'line')) as [string];
    return JSON.parse(line) as { frames: number; late: number };
  }

  async stop(): Promise<void> {
    this.#child.stdin?.end();
    await once(this.#child, 'exit');
  }
}

/** Processes of a gateway that a call costs: itself, the media worker, recognition and synthesis. */
const costOf = (talks: Talks): number =>
  familyOf(talks.gateway.pid)
    .filter((pid) => !/postgres|encode/.test(commandOf(pid)))
    .reduce((sum, pid) => sum + cpuMs(pid), 0);

/** Audio frames that agents have sent in the calls that have ended. */
async function frameCounts(talks: Talks): Promise<Record<'sent' | 'late' | 'lost', number>> {
  const metrics = await (await fetch(`${talks.gateway.base}/metrics`)).text();
  const rows = [...metrics.matchAll(/call_frames_total\{kind="(\w+)"\} (\d+)/g)];
  return Object.fromEntries(rows.map(([, kind, value]) => [kind, Number(value)])) as Awaited<
    ReturnType<typeof frameCounts>
  >;
}

async function callsACore(talks: Talks, calls: number, name: string, target?: string): Promise<void> {
  talks.model.answer(() => LONG);
  const agent = await talks.agent({ conversation: { interruptible: false } });
  const load = new Load();
  try {
    for (let call = 0; call < calls; call += 1) await load.do({ join: await talks.session(agent) });
    const media = memberOf(talks.gateway.pid, 'workers/media');
    await load.do({ speak: 'Go on' });
    await pause(2000);
    const before = { all: costOf(talks), media: cpuMs(media), ...(await load.do({})) };
    await pause(CPU_SECONDS * 1000);
    const after = { all: costOf(talks), media: cpuMs(media), ...(await load.do({})) };
    const core = (ms: number): number => (calls * CPU_SECONDS * 1000) / ms;
    row(
      `calls a core, ${name}, ${calls} calls, one in three agents speaking`,
      core(after.all - before.all),
      'calls',
      target,
    );
    row('  of that the media worker alone', core(after.media - before.media), 'calls');
    const frames = after.frames - before.frames;
    row('  frames heard late (a gap above 60 ms)', (100 * (after.late - before.late)) / frames, '%');
    await load.do({ leave: true });
    await talks.untilNoCalls();
    const sent = await frameCounts(talks);
    row('  frames late or lost at the sender', (100 * (sent.late + sent.lost)) / sent.sent, '%', '0.5 %');
  } finally {
    await load.stop();
  }
}

/** Memory, threads and files that conversations in a row leave behind, after the first of them have filled caches. */
async function endurance(): Promise<void> {
  const talks = await one({ ...TONE, CONCURRENCY: '1000', NODE_OPTIONS: INSPECTABLE });
  const { pid, stderr } = talks.gateway;
  const pids = { gateway: pid, media: memberOf(pid, 'workers/media') };
  const look = async (name: keyof typeof pids) => {
    await talks.untilNoCalls();
    return { ...(await inspected[name].inUse()), ...resourcesOf(pids[name]) };
  };
  const warm = Math.min(50, SESSIONS / 4);
  for (let session = 0; session < warm; session += 1) await talkAndEnd(talks);
  await talks.untilNoCalls();
  const inspected = {
    gateway: await Inspected.of(pids.gateway, stderr),
    media: await Inspected.of(pids.media, stderr),
  };
  await pause(SETTLE_MS);
  const before = { gateway: await look('gateway'), media: await look('media') };
  for (let session = warm; session < SESSIONS; session += 1) await talkAndEnd(talks);
  await pause(SETTLE_MS);
  for (const name of ['gateway', 'media'] as const) {
    const now = await look(name);
    const then = before[name];
    const grown = (bytes: number): number => bytes / 1024 / (SESSIONS - warm);
    row(`a session leaves in the ${name} process, in use`, grown(now.heap - then.heap), 'KiB', '20 KiB');
    row('  resident', grown(now.resident - then.resident), 'KiB', '20 KiB');
    row('  threads more than before', now.threads - then.threads, '', '0');
    row('  open files and sockets more than before', now.files - then.files, '', '0');
    inspected[name].close();
  }
}

const one = async (env: Record<string, string>): Promise<Talks> => Talks.start(lifetime, env);

try {
  for (const [name, env, target] of [
    ['tone', TONE, '60 ms'],
    ['embedded', EMBEDDED, '250 ms'],
  ] as const) {
    const talks = await one(env);
    const delays = await answerDelays(talks);
    row(
      `answer beyond the endpointing delay, ${name}, median of ${delays.length}`,
      median(delays),
      'ms',
      target,
    );
    row('  p95', quantile(delays, 0.95), 'ms');
    for (const sensitivity of ['high', 'balanced', 'low']) {
      const goal = sensitivity === 'high' ? '200 ms' : undefined;
      row(
        `barge-in to silence, ${name}, ${sensitivity}, median`,
        median(await bargeIns(talks, sensitivity)),
        'ms',
        goal,
      );
    }
    if (name === 'embedded') {
      const turns = await turnEnds(talks);
      row('real speech: end-of-turn recall', share(turns), '%');
      row('real speech: turns answered before their end', turns.early, '');
      row('real speech: end of turn to the answer, median', median(turns.delays), 'ms');
      const interruptions = await yields(talks, await spoken(talks, INTERRUPTIONS));
      row('real speech: interruption recall', share(interruptions), '%');
      row('real speech: interruption to silence, median', median(interruptions.delays), 'ms');
      row(
        'real speech: false cut-ins by agreement',
        share(await yields(talks, await spoken(talks, HARMLESS))),
        '%',
      );
      row(
        'real speech: false cut-ins by coughs',
        share(await yields(talks, [cough(), cough(), cough()])),
        '%',
      );
    }
    await callsACore(talks, name === 'tone' ? CALLS : 8, name, name === 'tone' ? '40' : undefined);
    await stopAll();
  }
  await endurance();
} finally {
  await stopAll();
  letGo();
}
