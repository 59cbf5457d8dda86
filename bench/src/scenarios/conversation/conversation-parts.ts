/** The parts of a conversation that is measured: what is done in each, and the figures that it gives. */
import { type Disturbance, PAUSES, pausing, type Step } from '../../calls/dialogue.js';
import { type FigureInput, latencyFigures } from '../../figures.js';
import {
  doubtsIn,
  failuresIn,
  latenciesIn,
  merged,
  type Phase,
  requestsIn,
  secondsOf,
  valuesIn,
} from '../../measure/phase.js';
import type { Server } from '../../servers/server.js';
import { Callers, type Eagerness, type Inviting, type Recordings } from '../call-load.js';
import type { Context } from '../context.js';
import { mediaFigure, watchMedia } from './conversation-media.js';
import type { PartName, RecordedPartName } from './conversation-texts.js';

/** A server with agents that callers talk to. */
export interface Subject {
  readonly server: Pick<Server, 'name' | 'pid'>;
  /** Invites to agents of that eagerness. */
  listener(eagerness: Eagerness): Promise<Inviting>;
}

/** How much is tried. */
export interface Trials {
  /** Begins the names of the figures. */
  readonly prefix: string;
  readonly calls: number;
  readonly rounds: number;
}

/** Figures of agent's turns that survived a disturbance. */
const KEPT: Readonly<Record<Disturbance, string>> = {
  cough: 'coughs_kept',
  agree: 'backchannels_kept',
  others: 'others_15db_kept',
};

const share = (values: readonly number[]): number =>
  (100 * values.reduce((sum, value) => sum + value, 0)) / values.length;

/** Late or lost frames of all rounds, in percent of all frames heard. */
function ofFrames(phase: Phase, name: 'late' | 'lost'): number {
  const sum = (reading: string): number =>
    valuesIn(phase, reading).reduce((total, value) => total + value, 0);
  return (100 * sum(name)) / sum('frames');
}

interface Measured {
  readonly prefix: string;
  readonly calls: number;
  readonly server: Pick<Server, 'name'>;
  readonly phase: Phase;
}

const commonOf = ({ server, phase }: Measured) => ({ subject: server.name, doubts: doubtsIn(phase) });

/** A share of what was tried; none where nothing was. */
function shareFigure(measured: Measured, name: string, values: readonly number[], value: number) {
  const figure = { subject: measured.server.name, name: `${measured.prefix}.${name}`, unit: '%' };
  return values.length === 0 ? [] : [{ ...figure, n: values.length, value }];
}

function callsPerCore(measured: Measured): FigureInput[] {
  const { prefix, calls, phase } = measured;
  if (phase.cost === undefined) return [];
  const value = calls / (phase.cost.family / 1000 / secondsOf(phase));
  const name = `${prefix}.calls_per_core`;
  return [{ ...commonOf(measured), name, unit: 'calls a core', n: calls, value }];
}

function talkingFigures(measured: Measured): FigureInput[] {
  const { prefix, calls, phase } = measured;
  const common = commonOf(measured);
  const wer = valuesIn(phase, 'wer');
  const percentOfFrames = { ...common, unit: '%', n: calls };
  return [
    ...latencyFigures(`${prefix}.answer`, latenciesIn(phase, 'answer'), common),
    ...latencyFigures(`${prefix}.answer_to_statement`, latenciesIn(phase, 'afterStatement'), common),
    ...latencyFigures(
      `${prefix}.answer_after_closing_interruption`,
      latenciesIn(phase, 'afterInterruption'),
      common,
    ),
    ...latencyFigures(`${prefix}.barge_in`, latenciesIn(phase, 'bargeIn'), common),
    ...Object.entries(KEPT).flatMap(([disturbance, name]) => {
      const kept = valuesIn(phase, disturbance);
      return shareFigure(measured, name, kept, share(kept));
    }),
    ...shareFigure(measured, 'wer', wer, share(wer)),
    { ...percentOfFrames, name: `${prefix}.frames.late`, value: ofFrames(phase, 'late') },
    { ...percentOfFrames, name: `${prefix}.frames.lost`, value: ofFrames(phase, 'lost') },
    ...callsPerCore(measured),
  ];
}

const pausingFigures = (measured: Measured): FigureInput[] =>
  PAUSES.flatMap((ms) => {
    const kept = valuesIn(measured.phase, pausing(ms));
    return shareFigure(measured, `cut_offs_of_habitual_pauses.${ms}`, kept, 100 - share(kept));
  });

const eagerFigures = (measured: Measured): FigureInput[] =>
  latencyFigures(
    `${measured.prefix}.answer_eager`,
    latenciesIn(measured.phase, 'answer'),
    commonOf(measured),
  );

/** Figures of sentences: latencies, share into which the agent spoke, number without an answer, word error rate. */
function sentenceFigures(measured: Measured): FigureInput[] {
  const { prefix, server, phase } = measured;
  const failures = failuresIn(phase);
  const n = requestsIn(phase);
  const wer = valuesIn(phase, 'wer');
  const counted = { subject: server.name, n };
  const cutOffs = (100 * (failures['answered before the end'] ?? 0)) / n;
  return [
    ...latencyFigures(
      `${prefix}.answer_to_statement`,
      latenciesIn(phase, 'afterStatement'),
      commonOf(measured),
    ),
    { ...counted, name: `${prefix}.cut_offs`, unit: '%', value: cutOffs },
    { ...counted, name: `${prefix}.unanswered`, unit: '', value: failures['unanswered turn'] ?? 0 },
    ...shareFigure(measured, 'wer', wer, share(wer)),
  ];
}

function backgroundFigures(measured: Measured): FigureInput[] {
  const kept = valuesIn(measured.phase, 'others');
  return shareFigure(measured, KEPT.others, kept, share(kept));
}

interface Part {
  /** The eagerness of the part's agent. */
  readonly eagerness: Eagerness;
  readonly figures: (measured: Measured) => FigureInput[];
}

const PARTS: Readonly<Record<PartName | RecordedPartName, Part>> = {
  talking: { eagerness: 'balanced', figures: talkingFigures },
  pausing: { eagerness: 'balanced', figures: pausingFigures },
  eager: { eagerness: 'eager', figures: eagerFigures },
  sentences: { eagerness: 'balanced', figures: sentenceFigures },
  background: { eagerness: 'balanced', figures: backgroundFigures },
};

/** Failures of all parts together. */
export function failureFigures(
  { server }: Subject,
  { prefix }: Trials,
  phases: readonly Phase[],
): FigureInput[] {
  const phase = merged(phases);
  const counted = { subject: server.name, unit: '', n: requestsIn(phase) };
  const failures = failuresIn(phase);
  return [
    { ...counted, name: `${prefix}.unanswered`, value: failures['unanswered turn'] ?? 0 },
    { ...counted, name: `${prefix}.cut_offs`, value: failures['answered before the end'] ?? 0 },
  ];
}

/** One part, with calls of its own. Adds its figures. */
export async function measurePart(
  context: Context,
  { server, listener }: Subject,
  { prefix, calls, rounds }: Trials,
  name: PartName | RecordedPartName,
  steps: readonly Step[],
  recorded: Recordings,
): Promise<Phase> {
  const { eagerness, figures } = PARTS[name];
  const callers = new Callers(context, server, await listener(eagerness));
  await callers.join(calls, 4);
  const mediaCpu = watchMedia(server);
  const phase = await callers.converse(`${prefix}: ${calls} calls, ${name}`, steps, rounds, recorded);
  const spent = mediaCpu();
  await callers.leave();
  await callers.stop();
  const measured = { prefix, calls, server, phase };
  context.add(...figures(measured));
  if (name === 'talking' && spent !== undefined)
    context.add(await mediaFigure(context, measured, spent, recorded));
  return phase;
}
