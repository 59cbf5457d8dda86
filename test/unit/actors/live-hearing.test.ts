import { setImmediate as turn } from 'node:timers/promises';
import t from '../../fixtures/tap.js';
import { LiveHearing } from '../../../actors/live-hearing.js';
import type { Transcription } from '../../../contracts/ports/speech/speech.js';
import { ToldHearing } from '../../fixtures/engines/told-hearing.js';
import { exactly } from '../../fixtures/exactly.js';
import { standIn } from '../../fixtures/stand-in.js';

const caller = { workspaceId: 'w', keyId: 'k' };
const request = { model: 'transcribe-1', sampleRate: 16_000 } as const;

function opened(signal = new AbortController().signal) {
  const hearing = new ToldHearing();
  const texts: string[] = [];
  const failures: unknown[] = [];
  const on = {
    changed: (text: string) => void texts.push(text),
    failed: (error: unknown) => void failures.push(error),
  };
  const live = LiveHearing.open(
    standIn<Transcription>({ listen: hearing.listen }),
    request,
    caller,
    on,
    signal,
  )!;
  return { hearing, texts, failures, live };
}

t.test('a recogniser that hears whole audio only is not asked', async (t) => {
  const on = { changed: () => undefined, failed: () => undefined };
  const { signal } = new AbortController();
  const deaf = standIn<Transcription>({ listen: () => undefined });
  t.equal(LiveHearing.open(deaf, request, caller, on, signal), undefined);
  t.equal(LiveHearing.open(standIn<Transcription>({}), request, caller, on, signal), undefined);
});

t.test('texts come as they change, and the transcript at the end of the audio', async (t) => {
  const { hearing, texts, failures, live } = opened();
  live.push(new Int16Array(100));
  for (const text of ['one', 'one', 'one two']) hearing.say(text);
  live.push(new Int16Array(50));
  await turn();
  t.same([texts, live.text, live.isWell], [['one', 'one two'], 'one two', true]);
  const whole = live.whole();
  hearing.say('One, two.', true);
  exactly(t, await whole, { text: 'One, two.', duration: 2 });
  t.same([hearing.heard, hearing.ended, failures], [[150], 1, []]);
  exactly(t, await live.whole(), { text: 'One, two.' });
  t.ok(live.isWell);
});

t.test('one that fails has no transcript, says so once, and takes no more audio', async (t) => {
  const { hearing, texts, failures, live } = opened();
  hearing.say('one');
  hearing.fail();
  await turn();
  t.same([texts, live.isWell, failures.length], [['one'], false, 1]);
  live.push(new Int16Array(100));
  t.equal(await live.whole(), undefined);
  t.same([hearing.heard, hearing.ended, failures.length], [[0], 1, 1]);
});

t.test('a transcript before the end of the audio is none of all of it', async (t) => {
  const { hearing, failures, live } = opened();
  hearing.say('One.', true);
  await turn();
  t.match(String(failures[0]), 'ended before the audio');
  t.equal(await live.whole(), undefined);
});

t.test('nobody hears of one that was stopped, or whose client has left', async (t) => {
  const gone = new AbortController();
  for (const [{ hearing, texts, failures, live }, leave] of [
    [opened(), (live: LiveHearing) => live.stop()],
    [opened(gone.signal), () => gone.abort()],
  ] as const) {
    leave(live);
    hearing.say('late');
    await turn();
    t.same([texts, hearing.left, live.isWell], [[], 1, false]);
    t.equal(await live.whole(), undefined);
    t.ok(failures.length <= 1);
  }
});
