/**
 * What so many callers at once take: machines, gateway processes, databases, LiveKit servers. The table of docs/operate/sizing.md, which a
 * test holds to this.
 */
import { loadOn } from './database.js';

/** Cores of each machine, of Postgres' and of a LiveKit server. */
const CORES = 16;
/** Of what a core carries: the rest is for the busiest minute, and for the calls of a machine that fails. */
const PLANNED = 2 / 3;
const MEAN_CALL_SECONDS = 180;

/** Calls a core: `conversation.speech.calls_per_core`, and `conversation.calls_per_core`, whose engine costs next to nothing. */
export const CALLS_A_CORE = { own: 9, elsewhere: 68 } as const;
/** Calls that a core of the gateway's own process carries: it takes 39 % of what a call costs without engines (bench/README.md). */
const CALLS_A_PROCESS = CALLS_A_CORE.elsewhere / 0.39;
/** Statements a core and second of Postgres, and processes that may read of one another (docs/operate/placement.md, "Where it ends"). */
const [STATEMENTS_A_CORE, MOST_PROCESSES] = [1900, 1000];
/**
 * 959,461 packets a second on 80 % of sixteen cores, as LiveKit publishes it (https://docs.livekit.io/transport/self-hosting/benchmark):
 * a call is 200, two voices of fifty in and out.
 */
const CALLS_A_LIVEKIT_CORE = 959_461 / (0.8 * 16) / 200;

/** Two, so that one may fail. */
const LEAST = 2;

export type Engines = keyof typeof CALLS_A_CORE;

export interface FleetNeeds {
  readonly callsAMachine: number;
  readonly machines: number;
  /** Gateway processes of each (WORKERS). */
  readonly workers: number;
  /** Databases, each with its part of the gateways: an installation. */
  readonly databases: number;
  /** In livekit mode; embedded calls need none. */
  readonly livekitServers: number;
}

/** Whether one Postgres carries so many processes with so many calls. */
function carries(processes: number, calls: number): boolean {
  const all = loadOn({ nodes: processes, calls, rate: calls / MEAN_CALL_SECONDS }).at(-1)!;
  return processes <= MOST_PROCESSES && all.statements <= CORES * STATEMENTS_A_CORE * PLANNED;
}

export function needsOf(callers: number, engines: Engines): FleetNeeds {
  const callsAMachine = Math.floor(CORES * CALLS_A_CORE[engines] * PLANNED);
  const machines = Math.max(LEAST, Math.ceil(callers / callsAMachine));
  const workers = Math.ceil(callsAMachine / (CALLS_A_PROCESS * PLANNED));
  let databases = 1;
  while (!carries((machines * workers) / databases, callers / databases)) databases += 1;
  const livekitServers = Math.max(LEAST, Math.ceil(callers / (CORES * CALLS_A_LIVEKIT_CORE * PLANNED)));
  return { callsAMachine, machines, workers, databases, livekitServers };
}

const shown = (number: number): string => number.toLocaleString('en');

/** The rows of the page. */
export const sizingRows = (): string[] =>
  [100, 1000, 10_000, 1_000_000].map((callers) => {
    const [own, elsewhere] = [needsOf(callers, 'own'), needsOf(callers, 'elsewhere')];
    const cells = [
      callers,
      own.machines,
      own.databases,
      elsewhere.machines,
      elsewhere.databases,
      own.livekitServers,
    ];
    return `| ${cells.map(shown).join(' | ')} |`;
  });
