/** How long a node may act for its calls, and what happens to them when it no longer may (contracts/time/node-lease.ts). */
import t from '../../../fixtures/tap.js';
import type { Call, TranscriptText } from '../../../../contracts/ports/calls/calls.js';
import { NodeLease } from '../../../../contracts/time/node-lease.js';
import { FencedCall } from '../../../../gateway/agents/calls/fenced-call.js';
import { SimulatedClock } from '../../../fixtures/clock.js';
import { standIn } from '../../../fixtures/stand-in.js';

/** A clock whose timers do not run: that of a stopped process. */
class Stopped extends SimulatedClock {
  ahead = 0;
  override monotonic(): number {
    return super.monotonic() + this.ahead;
  }
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function nodeLease() {
  const clock = new Stopped();
  const held = new NodeLease(clock);
  const states: string[] = [];
  held.onChange((state) => states.push(state));
  return { clock, held, states };
}

t.test('a node acts for its calls until its lease ends, counted from the last request for it', async (t) => {
  const { clock, held, states } = nodeLease();
  t.notOk(held.holds, 'not before the first');
  clock.advance(500);
  held.renew(0, 4000);
  t.ok(held.holds);
  clock.advance(3499);
  t.ok(held.holds);
  clock.advance(1);
  t.notOk(held.holds);
  t.strictSame(states, ['held', 'silent']);
  held.renew(0, 4000);
  t.notOk(held.holds, 'an answer that came too late renews nothing');
  held.renew(clock.monotonic(), 4000);
  clock.advance(3000);
  held.renew(clock.monotonic(), 4000);
  clock.advance(3000);
  t.ok(held.holds);
  held.lose();
  t.notOk(held.holds);
  t.strictSame(states, ['held', 'silent', 'held', 'lost']);
  held.stop();
  t.equal(clock.pending, 0);
});

t.test('a process that stood still knows it before any timer has told it', async (t) => {
  const { clock, held, states } = nodeLease();
  held.renew(0, 4000);
  clock.ahead = 5000;
  t.notOk(held.holds);
  t.strictSame(states, ['held', 'silent']);
  held.stop();
});

/** A call that records what happens to it. */
function call() {
  const told: string[] = [];
  const note =
    (what: string) =>
    (...args: readonly unknown[]): void =>
      void told.push([what, ...args.filter((arg) => typeof arg !== 'object')].join(' '));
  const port = standIn<Call>({
    ...{ finishUtterance: note('finish'), pauseSpeech: note('pause'), resumeSpeech: note('resume') },
    ...{ clearSpeech: note('clear'), sendData: note('send'), setAttributes: note('attributes') },
    end: note('end'),
    showTranscript: ({ text }: TranscriptText) => note('show')(text),
    playSpeech: (utterance: number) => Promise.resolve(note('play')(utterance)),
    events: (async function* () {})(),
  });
  return { told, port };
}

const SOUND = new Int16Array(480);

t.test('the agent stands still while its node may not act, and goes on from there', async (t) => {
  const { clock, held } = nodeLease();
  held.renew(0, 4000);
  const { told, port } = call();
  const fenced = new FencedCall(port, held);
  await fenced.playSpeech(1, SOUND);
  clock.ahead = 4000;
  let played = false;
  void fenced.playSpeech(1, SOUND).then(() => (played = true));
  fenced.sendData('topic', new Uint8Array());
  await tick();
  t.notOk(played, 'who makes more of it waits');
  t.strictSame(told.splice(0), ['play 1', 'pause'], 'nothing leaves, at once');
  held.renew(clock.monotonic(), 4000);
  await tick();
  t.ok(played);
  t.strictSame(told.splice(0), ['send topic', 'resume', 'play 1']);
  fenced.pauseSpeech();
  clock.ahead += 4000;
  t.notOk(held.holds);
  fenced.resumeSpeech();
  fenced.pauseSpeech();
  held.renew(clock.monotonic(), 4000);
  t.strictSame(told.splice(0), ['pause', 'pause', 'pause'], 'one whose user has the floor stays paused');
  held.stop();
});

t.test('the agent of a call that is lost says nothing more, not even goodbye', async (t) => {
  const { clock, held } = nodeLease();
  held.renew(0, 4000);
  const { told, port } = call();
  const fenced = new FencedCall(port, held);
  held.lose();
  const making = fenced.playSpeech(1, SOUND);
  fenced.showTranscript({ speaker: 'agent', segment: '', text: 'x', final: true });
  fenced.end();
  held.renew(clock.monotonic(), 4000);
  fenced.setAttributes({});
  t.strictSame(told, ['pause', 'end']);
  await making;
  held.stop();
});
