/** The command line of the suite. */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type Objective, ObjectiveError, parseObjectives } from './objectives.js';

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export interface Peer {
  readonly name: string;
  readonly url: string;
  readonly key: string;
}

/** Kinds of open loads that the command line chooses from. */
const ARRIVALS = ['poisson', 'constant'] as const;

export interface Options {
  /** Parts of the names of scenarios; all where there is none. */
  readonly names: readonly string[];
  readonly url: string | undefined;
  readonly key: string;
  readonly checkout: string | undefined;
  readonly peers: readonly Peer[];
  /** Port of the double of a speech engine, for peers that are in front of it. */
  readonly enginePort: number | undefined;
  readonly model: string;
  readonly voice: string;
  readonly pcmRate: number | undefined;
  readonly rate: number | undefined;
  readonly arrivals: (typeof ARRIVALS)[number];
  readonly text: string | undefined;
  readonly objectives: readonly Objective[];
  /** How often the contenders of `rivals` and `conversation-peers` are measured in turns. */
  readonly rounds: number | undefined;
  /** Length of a soak. */
  readonly minutes: number | undefined;
  readonly isQuick: boolean;
  readonly isList: boolean;
  readonly isHelp: boolean;
  readonly compare: string | undefined;
  readonly json: string | undefined;
  readonly junit: string | undefined;
  readonly html: string | undefined;
  /** Folder for the worst turns of calls. */
  readonly recordings: string | undefined;
  /** Folder of recorded readings; undefined is that of Debian's package. */
  readonly readings: string | undefined;
  /** Folder of callers whom the user has recorded. */
  readonly callers: string | undefined;
  /** By which socket of agents' clients callers come, in scenarios that have such doors; undefined is the usual way. */
  readonly door: string | undefined;
  /** Whether callers say the sentences for tuning, in place of those by which the gateway is judged. */
  readonly isTuning: boolean;
}

export const USAGE = `speech-bench [NAME …] [KIND …]: load tests for speech gateways

  --list                   the scenarios
  --url URL                a server that runs already: its origin, or the base of its OpenAI dialect
  --key KEY                its API key
  --checkout DIR           without --url: the gateway's built checkout, which is started for each scenario
  --peer NAME=URL[,KEY]    another server, measured in turns with the first; may be given again
  --engine-port N          of the engine that rivals are put in front of: a --peer has to be set up for it (any)
  --slo 'ttfa.p95<400ms'   finds the greatest load at which the objectives hold; several with commas
  --rate N                 requests a second of open loads
  --arrivals KIND          of open loads: poisson, as of independent users, or constant, as most load testers send (poisson)
  --rounds N               of rivals (3) and conversation-peers (17)
  --minutes N              length of soak (1)
  --text TEXT              what is spoken
  --model ID --voice ID    as requests name them (tts-1, alloy)
  --pcm-rate HZ            of raw PCM by the OpenAI dialect, where the server is not started here (24000)
  --quick                  small loads: whether everything runs, not how well
  --recordings DIR         stereo recordings of the worst turns of calls: caller left, agent right
  --readings DIR           recorded speech of pocketsphinx-testdata, where it is no package of the system
  --callers DIR            recordings of your own for the scenario callers: DIR/CALLER/KIND/NAME.wav beside NAME.txt
  --door NAME              of conversation: calls by that socket of agents' clients, beside calls by telephone (realtime, elevenlabs)
  --tuning                 callers say the sentences for tuning, not those by which the gateway is judged
  --json FILE --junit FILE --html FILE
  --compare FILE           holds the figures against an earlier --json; refused where it measured something else

Exit code: 0 all targets met, 1 one missed, 2 a scenario could not run, 3 one missed or withheld in a run that is not to be relied upon.
`;

const DECLARED = {
  list: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
  quick: { type: 'boolean', default: false },
  url: { type: 'string' },
  key: { type: 'string', default: '' },
  checkout: { type: 'string' },
  peer: { type: 'string', multiple: true },
  'engine-port': { type: 'string' },
  slo: { type: 'string' },
  rate: { type: 'string' },
  arrivals: { type: 'string', default: 'poisson' },
  rounds: { type: 'string' },
  minutes: { type: 'string' },
  text: { type: 'string' },
  model: { type: 'string', default: 'tts-1' },
  voice: { type: 'string', default: 'alloy' },
  'pcm-rate': { type: 'string' },
  compare: { type: 'string' },
  json: { type: 'string' },
  junit: { type: 'string' },
  html: { type: 'string' },
  recordings: { type: 'string' },
  readings: { type: 'string' },
  callers: { type: 'string' },
  door: { type: 'string' },
  tuning: { type: 'boolean', default: false },
} as const;

function peerOf(text: string): Peer {
  const [, name = '', url = '', key = ''] = /^([^=]+)=([^,]+)(?:,(.*))?$/.exec(text) ?? [];
  if (!URL.canParse(url)) throw new UsageError(`--peer wants NAME=URL[,KEY], not ${text}`);
  if (name === 'gateway') throw new UsageError('a peer cannot be called gateway');
  return { name, url, key };
}

function positive(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (number > 0 && Number.isFinite(number)) return number;
  throw new UsageError(`--${option} wants a number above 0, not ${text}`);
}

function whole(option: string, text: string | undefined): number | undefined {
  const number = positive(option, text);
  if (number === undefined || Number.isInteger(number)) return number;
  throw new UsageError(`--${option} wants a whole number, not ${text}`);
}

function arrivalsOf(text: string): Options['arrivals'] {
  const kind = ARRIVALS.find((each) => each === text);
  if (kind !== undefined) return kind;
  throw new UsageError(`--arrivals wants ${ARRIVALS.join(' or ')}, not ${text}`);
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: DECLARED, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function objectivesOf(text: string | undefined): Objective[] {
  try {
    return text === undefined ? [] : parseObjectives(text);
  } catch (error) {
    throw error instanceof ObjectiveError ? new UsageError(error.message) : error;
  }
}

/** Throws UsageError. */
export function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parse(args);
  if (values.url !== undefined && !URL.canParse(values.url))
    throw new UsageError(`--url wants a URL, not ${values.url}`);
  return {
    names: positionals,
    url: values.url,
    key: values.key,
    checkout: values.checkout,
    peers: (values.peer ?? []).map(peerOf),
    enginePort: positive('engine-port', values['engine-port']),
    model: values.model,
    voice: values.voice,
    pcmRate: positive('pcm-rate', values['pcm-rate']),
    rate: positive('rate', values.rate),
    arrivals: arrivalsOf(values.arrivals),
    rounds: whole('rounds', values.rounds),
    minutes: positive('minutes', values.minutes),
    text: values.text,
    objectives: objectivesOf(values.slo),
    isQuick: values.quick,
    isList: values.list,
    isHelp: values.help,
    compare: values.compare,
    json: values.json,
    junit: values.junit,
    html: values.html,
    recordings: values.recordings && path.resolve(values.recordings),
    readings: values.readings && path.resolve(values.readings),
    callers: values.callers && path.resolve(values.callers),
    door: values.door,
    isTuning: values.tuning,
  };
}
