/** Checks of ICE with the tie-breaker 0 (media/embedded/stun-check.ts). */
import t from '../../../fixtures/tap.js';
import { repairedCheck } from '../../../../media/embedded/stun-check.js';
import { checkOf, isSignedWith, tieBreakerOf } from '../../../fixtures/media/stun.js';

const PASSWORD = 'password-of-22-characters';
const PASSWORDS = new Map([['ours', PASSWORD]]);
const CHECK = { username: 'ours:theirs', password: PASSWORD, tie: 0n } as const;

t.test('a signed check with tie-breaker 0, in either role, gets 1 and is signed anew', async (t) => {
  for (const role of ['controlling', 'controlled'] as const) {
    const check = checkOf({ ...CHECK, role });
    const before = Buffer.from(check);
    const { fragment, message } = repairedCheck(check, PASSWORDS) ?? {};
    if (!message) throw new Error('it was not repaired');
    t.equal(fragment, 'ours');
    t.equal(tieBreakerOf(message, role), 1n);
    t.ok(isSignedWith(message, PASSWORD));
    t.equal(message.readUInt16BE(2), message.length - 20, 'the length is right');
    t.strictSame(message.subarray(8, 20), check.subarray(8, 20), 'the transaction stays');
    t.strictSame(check, before, 'what came is left alone');
  }
});

t.test('the check repairs no other mistake', async (t) => {
  const cases: Readonly<Record<string, Buffer>> = {
    'another tie-breaker': checkOf({ ...CHECK, tie: 7n }),
    'another password': checkOf({ ...CHECK, password: 'another' }),
    'another fragment': checkOf({ ...CHECK, username: 'others:theirs' }),
    'no fragment': checkOf({ ...CHECK, username: '' }),
    'a response': checkOf({ ...CHECK, type: 0x0101 }),
    media: Buffer.from([0x80, 111, ...Buffer.alloc(60)]),
    nothing: Buffer.alloc(0),
  };
  for (const [what, message] of Object.entries(cases))
    t.equal(repairedCheck(message, PASSWORDS), undefined, what);
});

t.test('a check that is cut off, or changed anywhere before its signature, is not repaired', async (t) => {
  const check = checkOf(CHECK);
  const { message: whole } = repairedCheck(check, PASSWORDS) ?? {};
  const signedBytes = whole!.length;
  for (let length = 0; length < signedBytes; length += 1)
    t.equal(repairedCheck(check.subarray(0, length), PASSWORDS), undefined, `${length} bytes`);
  for (let at = 0; at < signedBytes; at += 1) {
    // The length in the head covers what follows the signature, which is no part of it.
    if (at === 2 || at === 3) continue;
    const changed = Buffer.from(check);
    changed[at] = changed[at]! ^ 0x40;
    t.equal(repairedCheck(changed, PASSWORDS), undefined, `byte ${at}`);
  }
});
