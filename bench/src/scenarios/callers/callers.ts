/**
 * Callers that nobody tuned the gateway to: many voices, and what people do in calls. Each trial is a call of its own, two at
 * once; what was understood is read in the records of the calls. `callers KIND` tries one kind alone.
 */
import os from 'node:os';
import type { Generator } from '../../generator/generator.js';
import { doubtsIn, type Phase, secondsOf } from '../../measure/phase.js';
import type { TrialHeard, TrialsTask } from '../../programs/trials.js';
import { startModel } from '../../servers/model.js';
import type { StartedServer } from '../../servers/checkout.js';
import type { Speaker, Texts } from '../../speakers/speaker.js';
import type { Context } from '../context.js';
import { scenario } from '../scenario.js';
import { answerAsPrompted, makeAgents } from './agents.js';
import { type Cast, castOf } from './cast.js';
import { type Casting, type Kind, KINDS, type Planned } from './kinds.js';
import { callerTables, figuresOf, figureTable, type MarkOf } from './marks.js';
import { understoodIn } from './records.js';
import { JUDGED } from './texts-judged.js';
import { TUNING } from './texts-tuning.js';

interface Parameters {
  /** Until the first token of the model. */
  readonly modelMs: number;
  readonly callsAtOnce: number;
  /** Callers at most; none: all that there are. */
  readonly callers: number | null;
}

const FULL: Parameters = { modelMs: 150, callsAtOnce: 2, callers: null };
const QUICK: Parameters = { ...FULL, callers: 2 };

const PREFIX = 'callers';
/** The gateway that is measured speaks with Flite alone: its agents have none of the callers' voices. */
const ENGINES = { TTS_ENGINES: 'flite' } as const;
/** The load of the machine above which it is the measure. */
const MOST_LOAD = 2;

function castingsOf(speakers: readonly Speaker[], texts: Texts): Casting[] {
  const wholes = speakers.filter(({ texts: own }) => own === undefined);
  return speakers.map((speaker, index) => {
    const textOf: Casting['textOf'] = ({ texts: own }, kind, at) => {
      const list = own?.[kind] ?? texts[kind];
      return list[at % list.length]!;
    };
    const others = [...wholes.slice(index % wholes.length), ...wholes.slice(0, index % wholes.length)];
    return {
      speaker,
      index,
      others: others.filter((other) => other !== speaker),
      textOf,
      text(kind, at, each = 1) {
        const list = speaker.texts === undefined ? texts[kind] : (speaker.texts[kind] ?? []);
        return list.length === 0 ? undefined : textOf(speaker, kind, index * each + at);
      },
    };
  });
}

/** Of the machine, over the last minute. */
const load = (): number => os.loadavg()[0] ?? Number.NaN;

/** The greatest load seen at the end of a kind, and what it is worth. */
class Loads {
  readonly #before = load();
  #most = 0;

  note(): void {
    this.#most = Math.max(this.#most, load());
  }

  get text(): string {
    const seen = `${this.#before.toFixed(1)} before, ${this.#most.toFixed(1)} at most, ${load().toFixed(1)} at the end`;
    return `load of the machine: ${seen}${this.#most > MOST_LOAD ? `: WARNING, over ${MOST_LOAD}` : ''}`;
  }

  get doubts(): string[] {
    return this.#most > MOST_LOAD ? [`the load of the machine was over ${MOST_LOAD}`] : [];
  }
}

interface Stage {
  readonly context: Context;
  readonly server: StartedServer;
  readonly generator: Generator;
  readonly agents: Readonly<Record<Planned['agent'], string>>;
  readonly callsAtOnce: number;
}

/** The calls of one kind. */
async function callAll(stage: Stage, kind: Kind, planned: readonly Planned[]): Promise<Phase> {
  const { context, server, generator, agents, callsAtOnce } = stage;
  const { name, origin, key, openai, isNative, pcmRate } = server;
  const { recordings: folder } = context.options;
  const params: TrialsTask = {
    server: { name, origin, key, openai, isNative, pcmRate },
    trials: planned.map(({ agent, trial }) => ({ ...trial, agent: agents[agent] })),
    atOnce: callsAtOnce,
    recordings: folder === undefined ? undefined : { folder, name: `callers-${kind.name}` },
  };
  const what = `${kind.title}: ${planned.length} calls, ${callsAtOnce} at once`;
  return context.drive(server, what, generator, { program: 'trials', params });
}

const NOTHING_HEARD: TrialHeard = { turns: [] };

/** A call, what was understood in it, and what that tells. */
interface Judged {
  readonly row: readonly string[];
  readonly marks: readonly MarkOf[];
}

const shown = ({ figure, value }: MarkOf): string =>
  `${figure}: ${typeof value === 'number' ? Math.round(value) : value ? 'yes' : 'no'}`;

async function judgedIn(
  server: StartedServer,
  { speaker, said, judge }: Planned,
  heard: TrialHeard,
): Promise<Judged> {
  if (heard.session === undefined || heard.failure !== undefined)
    return { row: [speaker.name, said, '', heard.failure ?? 'no call', ''], marks: [] };
  const understood = await understoodIn(server, heard.session).catch((error: Error) => error.message);
  if (typeof understood === 'string') return { row: [speaker.name, said, '', understood, ''], marks: [] };
  const marks = judge(heard, understood).map((mark) => ({ ...mark, caller: speaker.name }));
  const { text, answers } = understood;
  return { row: [speaker.name, said, text, marks.map(shown).join('; '), answers.join('; ')], marks };
}

async function judgeAll(server: StartedServer, planned: readonly Planned[], phase: Phase): Promise<Judged[]> {
  const told = (phase.outcomes[0]?.told ?? []) as readonly TrialHeard[];
  const judged: Judged[] = [];
  for (const [at, plan] of planned.entries())
    judged.push(await judgedIn(server, plan, told[at] ?? NOTHING_HEARD));
  return judged;
}

/** How many calls there were, how long they took, and how many of them count in no figure. */
function toldOf({ name }: Kind, judged: readonly Judged[], phase: Phase): string[] {
  const without = judged.filter(({ marks }) => marks.length === 0).length;
  const calls = `${name}: ${judged.length} calls in ${Math.round(secondsOf(phase))} s`;
  return [without === 0 ? calls : `${calls}, ${without} of them in no figure: --json tells why`];
}

/** Voices of Flite and of added models are spoken by a gateway that has them: every clip is made before the measurement. */
async function prepare(
  context: Context,
  kinds: readonly Kind[],
  callers: number | null,
): Promise<{ readonly cast: Cast; readonly plans: ReadonlyMap<Kind, readonly Planned[]> }> {
  const { options } = context;
  const { checkout, isTuning } = options;
  if (checkout === undefined) throw new Error('there is no --checkout');
  const texts = isTuning ? TUNING : JUDGED;
  const server = await context.start({});
  const list = isTuning ? 'tuning' : 'judged';
  const wanted = { list, texts, checkout, own: options.callers, readings: options.readings } as const;
  const cast = await castOf(server, wanted);
  const castings = castingsOf(cast.speakers, texts).slice(0, callers ?? Infinity);
  const plans = new Map<Kind, Planned[]>();
  for (const kind of kinds) {
    context.say(`making the clips of ${kind.title}`);
    const planned: Planned[] = [];
    for (const casting of castings) planned.push(...(await kind.plan(casting)));
    plans.set(kind, planned);
  }
  await server.stop();
  return { cast, plans };
}

/** Adds the figures, a table of all, a row for each caller, and what is missing. */
function report(
  context: Context,
  cast: Cast,
  marks: readonly MarkOf[],
  loads: Loads,
  doubts: string[],
): void {
  const callers = cast.speakers
    .map(({ name }) => name)
    .filter((name) => marks.some(({ caller }) => caller === name));
  context.add(...figuresOf(PREFIX, marks, [...doubts, ...loads.doubts]));
  context.tables.push(
    figureTable(`Callers like people: ${callers.length} callers`, marks),
    ...callerTables('Each caller', marks, callers),
    {
      title: 'Who they are',
      head: ['caller', 'voice'],
      rows: cast.speakers.map(({ name, source, origin }) => [name, `${origin}: ${source}`]),
    },
  );
  context.remarks.push(...cast.remarks, loads.text);
}

export default scenario<Parameters>({
  name: 'callers',
  title: 'Callers that nobody tuned to: many voices, digits, pauses, hums, crowds, echo, interruptions',
  isLocal: true,
  onlyByName: true,
  kinds: KINDS.map(({ name }) => name),
  parameters: { full: FULL, quick: QUICK },
  async run(context, { modelMs, callsAtOnce, callers }) {
    const { kinds: wanted } = context;
    const kinds = KINDS.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
    const { cast, plans } = await prepare(context, kinds, callers);
    const model = context.own(await startModel(modelMs, answerAsPrompted));
    const server = await context.start({ ...ENGINES, LLM_BASE_URL: model.url });
    const stage = {
      context,
      server,
      callsAtOnce,
      generator: context.anotherGenerator(),
      agents: await makeAgents(server),
    };
    const loads = new Loads();
    const marks: MarkOf[] = [];
    const phases: Phase[] = [];
    for (const [kind, planned] of plans) {
      const phase = await callAll(stage, kind, planned);
      phases.push(phase);
      const judged = await judgeAll(server, planned, phase);
      marks.push(...judged.flatMap((each) => each.marks));
      context.remarks.push(...toldOf(kind, judged, phase));
      context.tables.push({
        title: kind.title,
        head: ['caller', 'said', 'understood', 'tells', 'the gateway’s times'],
        rows: judged.map(({ row }) => row),
        isLong: true,
      });
      loads.note();
    }
    report(context, cast, marks, loads, doubtsIn(...phases));
  },
});
