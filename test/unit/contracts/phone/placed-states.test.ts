/** How a placed call came out, as sessions and events tell it (docs/contract/platform.md 6.7). */
import t from '../../../fixtures/tap.js';
import { CALL_STATES, type CallState, dialOutcome } from '../../../../contracts/phone/placed-states.js';

const outcome = (state: CallState, more: Partial<Parameters<typeof dialOutcome>[0]> = {}) =>
  Object.values(dialOutcome({ state, isAnswered: false, answeredBy: null, ...more }));

t.test('each state of a call has a status, and only answered ones somebody who answered', async (t) => {
  t.strictSame(Object.fromEntries(CALL_STATES.map((state) => [state, outcome(state)])), {
    queued: [null, null],
    ringing: [null, null],
    answered: ['answered', 'unknown'],
    busy: ['busy', null],
    no_answer: ['no_answer', null],
    failed: ['failed', null],
    cancelled: ['failed', null],
    voicemail: ['answered', 'unknown'],
    ended: ['answered', 'unknown'],
  });
});

t.test('who has answered is told in the words of sessions', async (t) => {
  t.strictSame(outcome('answered', { answeredBy: 'human' }), ['answered', 'human']);
  t.strictSame(outcome('voicemail', { answeredBy: 'machine' }), ['answered', 'voicemail']);
  t.strictSame(outcome('ended', { answeredBy: 'unknown' }), ['answered', 'unknown']);
  t.strictSame(outcome('busy', { answeredBy: 'machine' }), ['busy', null]);
});

t.test('a call that was answered stays so, whatever is reported later', async (t) => {
  t.strictSame(outcome('cancelled', { isAnswered: true, answeredBy: 'human' }), ['answered', 'human']);
  t.strictSame(outcome('failed', { isAnswered: true }), ['answered', 'unknown']);
});
