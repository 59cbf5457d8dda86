/** The machine of one speech socket of protocol B (actors/stream-input-socket.ts): what each sequence of events does. */
import t from '../../fixtures/tap.js';
import { run } from '../../../actors/run.js';
import {
  speechSocket,
  type SpeechSocketEffect,
  type SpeechSocketEvent,
} from '../../../actors/stream-input-socket.js';
import type { SocketFault } from '../../../actors/stream-input.js';
import { SimulatedClock } from '../../fixtures/clock.js';

const SILENCE: SocketFault = { message: 'silent for too long', error: 'input_timeout_exceeded', code: 1008 };
const FAULT: SocketFault = { message: 'no', error: 'no', code: 1008 };

const [identified, message, opened] = [
  { type: 'identified' },
  { type: 'message' },
  { type: 'opened' },
] as const;
const [emptied, leave, gone] = [{ type: 'emptied' }, { type: 'leave' }, { type: 'gone' }] as const;
const fault = { type: 'fault', fault: FAULT } as const;

/** A number of ms lets that time pass. The client may be silent for 20,000. */
type Step = SpeechSocketEvent | number;

/** Effects in short, with the message of a fault. */
const short = (effect: SpeechSocketEffect): string =>
  'fault' in effect ? `${effect.type} (${effect.fault?.message})` : effect.type;

const SILENT = ['refuse (silent for too long)', 'close (silent for too long)'];
const FAULTY = ['refuse (no)', 'close (no)'];

const SEQUENCES: readonly [name: string, steps: readonly Step[], effects: readonly string[]][] = [
  ['nobody is known', [message, opened, emptied, leave], []],
  ['nobody is known, and says nothing', [19_999], []],
  ['nobody becomes known in time', [20_000, identified, 60_000], SILENT],
  ['messages do not put that off', [15_000, message, 5000], SILENT],
  ['a known client', [identified, identified], ['takeFrames']],
  ['it says nothing', [15_000, identified, 19_999], ['takeFrames']],
  [
    'it says nothing for too long',
    [15_000, identified, 20_000, message],
    ['takeFrames', 'dropFrames', ...SILENT],
  ],
  ['messages put that off', [identified, 15_000, message, 19_999], ['takeFrames']],
  ['a context has a silence of its own', [identified, opened, message, 60_000], ['takeFrames']],
  [
    'then the socket has again',
    [identified, opened, emptied, 20_000],
    ['takeFrames', 'dropFrames', ...SILENT],
  ],
  ['it leaves', [identified, leave, leave, 60_000], ['takeFrames', 'dropFrames', 'close']],
  [
    'it leaves while it is spoken to',
    [identified, opened, leave, message, 60_000],
    ['takeFrames', 'dropFrames'],
  ],
  [
    'its last context ends',
    [identified, opened, leave, emptied, gone],
    ['takeFrames', 'dropFrames', 'close'],
  ],
  ['a fault of nobody known', [fault, identified, 60_000], FAULTY],
  ['a fault', [identified, fault, leave], ['takeFrames', 'dropFrames', ...FAULTY]],
  ['a fault as contexts speak', [identified, opened, fault, fault], ['takeFrames', 'dropFrames', ...FAULTY]],
  [
    'a fault as it leaves',
    [identified, opened, leave, fault, emptied],
    ['takeFrames', 'dropFrames', ...FAULTY],
  ],
  ['it is gone', [identified, gone, fault, 60_000], ['takeFrames', 'dropFrames']],
  ['it is gone before it is known', [gone, identified], []],
];

t.test('a speech socket: what each sequence of events does', async (t) => {
  for (const [name, steps, wanted] of SEQUENCES) {
    const clock = new SimulatedClock();
    const effects: string[] = [];
    const socket = run(speechSocket, { inactivityMs: 20_000, silence: SILENCE }, clock, (effect) =>
      effects.push(short(effect)),
    );
    for (const step of steps) {
      if (typeof step === 'number') clock.advance(step);
      else socket.send(step);
    }
    t.strictSame(effects, wanted, name);
  }
});
