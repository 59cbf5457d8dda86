/** What is done to the gateway and to all that it asks, as a table: the faults of conversations, of nodes, and of everything else. */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Fault, FAULTS, faultOf, type Surroundings } from '../conversation/faults.js';
import { ANALYSIS, analysesAs, type Doors, type Night, type Place } from './world.js';
import type { DoorState } from './door.js';
import type { TurnState } from '../../fixtures/media/turn-double.js';

export interface NightFault {
  readonly name: string;
  readonly place: Place;
  /** Resolves when it is made. */
  make(night: Night): unknown;
  /** Resolves when there is nothing left to do about it. Absent: the gateway mends it. */
  mend?(night: Night): unknown;
  /** The one of several parts of its kind that it is about; absent: any. */
  readonly of?: string;
  /** What else is to be taken back, once it is seen that the fault is over. */
  clear?(night: Night): unknown;
}

const MIB = 1024 * 1024;

/** Uses the last byte. */
function fillDisk({ disk = '' }: Night): void {
  const file = openSync(join(disk, 'filling'), 'a');
  try {
    for (;;) writeSync(file, Buffer.alloc(MIB, 1));
  } catch {
    // It is full.
  } finally {
    closeSync(file);
  }
}

/** The second ones. */
const NAMES: Readonly<Record<string, string>> = {
  model: 'fallback',
  voice: 'native-compatible',
  recogniser: 'native-compatible',
};

/** A second engine is asked only where the first fails: longer than the fault, so that it is seen to be over. */
const SECOND = /^second (\w+) .*/;
/** Engines of the gateway's own. */
const OWN = /^process that/;
/** Faults of conversations that are over by themselves. */
const OVER = /^(process|media process|mcp is started|mcp changes)/;
function fromConversation(fault: Fault): NightFault {
  const [, part] = SECOND.exec(fault.name) ?? [];
  const first = part === undefined ? undefined : faultOf(`${part} closes connections`);
  return {
    name: fault.name,
    place: OWN.test(fault.name) ? 'own' : 'usual',
    ...(part !== undefined && { of: NAMES[part]! }),
    async make({ around }) {
      await first?.make(around);
      await fault.make(around);
    },
    ...(!OVER.test(fault.name) && { mend: ({ around }) => fault.mend(around) }),
    clear: ({ around }) => first?.mend(around),
  };
}

const door = (name: string, which: keyof Doors, state: DoorState): NightFault => ({
  name,
  place: 'usual',
  make: ({ doors }) => doors[which].set(state),
  mend: ({ doors }) => doors[which].set('open'),
});

const relay = (name: string, state: TurnState): NightFault => ({
  name,
  place: 'usual',
  make: ({ turn }) => turn.set(state),
  mend: ({ turn }) => turn.set('open'),
});

type Refusal = '401' | '404' | '429';
/** The switch of a double that can refuse everything. */
interface Refuses {
  set(fault: Refusal): void;
  clear(): void;
}

/** A double refuses everything; conversations meet a refused key alone. */
const switched = (name: string, fault: Refusal, switchOf: (around: Surroundings) => Refuses): NightFault => ({
  name,
  place: 'usual',
  make: ({ around }) => switchOf(around).set(fault),
  mend: ({ around }) => switchOf(around).clear(),
});

/** Of what there is a choice. */
const CHOSEN = [
  ['knows no such model', '404'],
  ['takes no more', '429'],
] as const;
const OF_ACCOUNTS = [
  ['refuses the key', '401'],
  ['is not there', '404'],
] as const;
const REFUSALS = {
  model: CHOSEN,
  voice: CHOSEN,
  recogniser: CHOSEN,
  tool: OF_ACCOUNTS,
  mcp: OF_ACCOUNTS,
} as const;
const SWITCHED: readonly (readonly [keyof typeof REFUSALS, (around: Surroundings) => Refuses])[] = [
  ['model', ({ model }) => model.faults],
  ['voice', ({ speech }) => speech.voice],
  ['recogniser', ({ speech }) => speech.recogniser],
  ['tool', ({ tools }) => tools.faults],
  ['mcp', ({ mcp }) => mcp.faults],
];

/** Whatever runs in the child processes of a role: they are stopped until they are replaced, or killed. */
const signalled = (name: string, role: string, signal: NodeJS.Signals): NightFault => ({
  name,
  place: 'usual',
  make({ gateway }) {
    for (const pid of gateway.workers(role)) process.kill(pid, signal);
  },
});

const ended = async ({ gateway }: Night): Promise<void> => {
  await gateway.exited();
  await gateway.start();
};

export const NIGHT_FAULTS: readonly NightFault[] = [
  ...FAULTS.map(fromConversation),
  ...SWITCHED.flatMap(([who, switchOf]) =>
    REFUSALS[who].map(([what, fault]) => switched(`${who} ${what}`, fault, switchOf)),
  ),
  door('webhook receiver is away', 'webhook', 'away'),
  door('webhook receiver hangs', 'webhook', 'silent'),
  door('webhook receiver answers 500', 'webhook', 500),
  door('webhook receiver is not there', 'webhook', 404),
  door('webhook receiver has moved', 'webhook', 308),
  door('bucket is away', 'bucket', 'away'),
  door('bucket hangs', 'bucket', 'silent'),
  door('bucket refuses the key', 'bucket', 403),
  door('bucket is not there', 'bucket', 404),
  door('telephone provider is away', 'phone', 'away'),
  door('telephone provider hangs', 'phone', 'silent'),
  door('telephone provider answers 500', 'phone', 500),
  door('telephone provider refuses the key', 'phone', 401),
  relay('TURN server is away', 'away'),
  relay('TURN server hangs', 'silent'),
  relay('TURN server refuses the credential', 401),
  {
    name: 'analysis is not understood',
    place: 'usual',
    make: ({ around }) => analysesAs(around, 'Yes.'),
    mend: ({ around }) => analysesAs(around, ANALYSIS),
  },
  signalled('media process is frozen', 'media', 'SIGSTOP'),
  signalled('process that encodes is frozen', 'encode', 'SIGSTOP'),
  signalled('process that encodes dies', 'encode', 'SIGKILL'),
  {
    name: 'database loses connections',
    place: 'usual',
    make: ({ around }) => around.database.lose(),
  },
  {
    name: 'worker dies again and again',
    place: 'usual',
    make: ({ gateway }) => void gateway.killWorkers('encode'),
    mend: ({ gateway }) => gateway.spareWorkers(),
  },
  {
    name: 'gateway is killed',
    place: 'usual',
    make: ({ gateway }) => gateway.signal('SIGKILL'),
    mend: ended,
  },
  {
    name: 'gateway is stopped',
    place: 'usual',
    make: ({ gateway }) => gateway.signal('SIGSTOP'),
    mend: ({ gateway }) => gateway.signal('SIGCONT'),
  },
  {
    name: 'gateway drains',
    place: 'usual',
    make: ({ gateway }) => gateway.signal('SIGTERM'),
    mend: ended,
  },
  {
    name: 'disk is full',
    place: 'disk',
    make: fillDisk,
    mend: ({ disk = '' }) => rmSync(join(disk, 'filling'), { force: true }),
  },
  {
    name: 'LiveKit server is away',
    place: 'livekit',
    make: ({ livekit }) => livekit?.relay.away(),
    mend: ({ livekit }) => livekit?.relay.open(),
  },
  {
    name: 'LiveKit server refuses the key',
    place: 'livekit',
    make: ({ livekit }) => livekit?.refuse(true),
    mend: ({ livekit }) => livekit?.refuse(false),
  },
];
