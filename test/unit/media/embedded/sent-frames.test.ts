/** Frames that have left by RTP, as the gateway is told of them (media/embedded/sent-frames.ts). */
import t from '../../../fixtures/tap.js';
import { SentFrames } from '../../../../media/embedded/sent-frames.js';
import type { SentReport } from '../../../../media/wire.js';

t.test('frames are told several at once, and each exactly once', async (t) => {
  const told: SentReport[] = [];
  const sent = new SentFrames((report) => void told.push(report));
  sent.tell();
  t.strictSame(told, [], 'nothing was sent');
  for (let frame = 0; frame < 5; frame += 1) sent.add(1);
  t.strictSame(told, []);
  sent.tell();
  sent.tell();
  t.strictSame(told, [{ on: 'sent', frames: 5, utterance: 1 }]);
});

t.test('those of another utterance, or of the silence behind one, are told apart and in order', async (t) => {
  const told: SentReport[] = [];
  const sent = new SentFrames((report) => void told.push(report));
  for (const utterance of [1, 1, undefined, 2, 2, 2]) sent.add(utterance);
  sent.tell();
  t.strictSame(told, [
    { on: 'sent', frames: 2, utterance: 1 },
    { on: 'sent', frames: 1 },
    { on: 'sent', frames: 3, utterance: 2 },
  ]);
});
