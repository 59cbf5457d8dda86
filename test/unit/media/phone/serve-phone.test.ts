/** A line's frames on their way to its recording (media/phone/serve-phone.ts). */
import t from '../../../fixtures/tap.js';
import { bytesOf } from '../../../../contracts/audio.js';
import { PhoneCarrier } from '../../../../media/phone/serve-phone.js';
import { FRAME_SAMPLES, Playout } from '../../../../media/playout.js';
import type { Recorder } from '../../../../media/recorder.js';
import type { CallHost } from '../../../../media/served-call.js';
import type { LineReport } from '../../../../media/wire.js';
import { standIn } from '../../../fixtures/stand-in.js';

t.test(
  'what the line holds is heard while the machine stands still; what it is sent then is not',
  async (t) => {
    const playout = new Playout(() => undefined);
    const ago: number[] = [];
    const recorder = standIn<Recorder>({ agent: (_packet: Uint8Array, beats = 0) => void ago.push(beats) });
    const host = standIn<CallHost<LineReport>>({
      ...{ playout, report: () => undefined, samples: () => undefined, isVoiced: () => false },
      recorder: () => recorder,
    });
    // Nine frames go ahead of the one that is heard.
    const format = { codec: 'linear', rate: 16_000, ahead: 9, silent: true } as const;
    const carrier = new PhoneCarrier(standIn({ format }), { complexity: 0 }, host);
    playout.play(1, bytesOf(new Int16Array(FRAME_SAMPLES * 40).fill(9000)));
    const beat = (passed: number): number[] => {
      ago.length = 0;
      carrier.beat(true, passed);
      return [...ago];
    };
    t.same(beat(5), [0], 'it begins behind a stall');
    t.same(beat(1), [0]);
    t.same(beat(15), [14, 13, 12, 11, 10, 9, 8, 7, 6, 0], 'nine were heard meanwhile, and one is heard now');
    t.same(beat(1), [0]);
  },
);
