/** What is done to the gateway and to all that it asks, as a table: the faults of conversations, of nodes, and of everything else. */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Fault, FAULTS, faultOf } from '../conversation/faults.js';
import { ANALYSIS, analysesAs, type Doors, type Night, type Place } from './world.js';
import type { DoorState } from './door.js';

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

const ended = async ({ gateway }: Night): Promise<void> => {
  await gateway.exited();
  await gateway.start();
};

export const NIGHT_FAULTS: readonly NightFault[] = [
  ...FAULTS.map(fromConversation),
  door('webhook receiver is away', 'webhook', 'away'),
  door('webhook receiver answers 500', 'webhook', 500),
  door('bucket is away', 'bucket', 'away'),
  door('bucket refuses the key', 'bucket', 403),
  door('telephone provider is away', 'phone', 'away'),
  door('telephone provider refuses the key', 'phone', 401),
  {
    name: 'analysis is not understood',
    place: 'usual',
    make: ({ around }) => analysesAs(around, 'Yes.'),
    mend: ({ around }) => analysesAs(around, ANALYSIS),
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
    make: ({ livekit }) => livekit?.away(),
    mend: ({ livekit }) => livekit?.open(),
  },
];
