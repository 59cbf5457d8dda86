/** Sounds that are kept of workspaces: whose they are, how many, how long, and whose memory they take (engines/kept-speech.ts). */
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { UNBOUNDED_MEMORY } from '../../../contracts/ports/accounts/memory.js';
import { SpeechShelves } from '../../../engines/kept-speech.js';
import { Ledger } from '../../../gateway/server/memory/ledger.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import { MiB } from '../../fixtures/contract-numbers/units.js';

const { soundBytes, workspaceBytes, processBytes, noted, ms } = LIMITS.keptSpeech;

/** What a sound counts besides its samples. */
const ENTRY = 512;
const soundOf = (bytes: number) => ({ samples: new Int16Array((bytes - ENTRY) / 2), words: [] });

const scene = (memory = UNBOUNDED_MEMORY) => {
  const clock = new SimulatedClock();
  return { clock, shelves: new SpeechShelves(memory, clock) };
};

t.test('a sound is its workspace’s alone, and what was found is counted', (t) => {
  const { shelves } = scene();
  const sound = soundOf(1024);
  shelves.keep('a', 'Sure.', sound);
  t.equal(shelves.find('a', 'Sure.'), sound);
  t.equal(shelves.find('b', 'Sure.'), undefined);
  t.equal(shelves.find('a', 'Well.'), undefined);
  t.strictSame(shelves.found, { hit: 1, miss: 2 });
  t.end();
});

t.test('what was said before is known, of the last pieces', (t) => {
  const { shelves } = scene();
  t.notOk(shelves.isRepeated('a', 'Sure.'));
  t.ok(shelves.isRepeated('a', 'Sure.'));
  t.notOk(shelves.isRepeated('b', 'Sure.'), 'by whom');
  for (let at = 0; at < noted - 1; at++) shelves.isRepeated('a', `piece ${at}`);
  t.ok(shelves.isRepeated('b', 'Sure.'));
  t.notOk(shelves.isRepeated('a', 'Sure.'), 'longer ago than that');
  t.end();
});

t.test('keptSpeech.soundBytes: a longer sound is not kept', (t) => {
  const { shelves } = scene();
  shelves.keep('a', 'long', soundOf(soundBytes + 2));
  t.equal(shelves.bytes, 0);
  shelves.keep('a', 'long', soundOf(soundBytes));
  t.equal(shelves.bytes, soundBytes);
  t.end();
});

t.test('keptSpeech.workspaceBytes: the least recently used sound of a workspace goes', (t) => {
  const { shelves } = scene();
  for (let at = 0; at < workspaceBytes / MiB; at++) shelves.keep('a', String(at), soundOf(MiB));
  shelves.keep('b', 'Sure.', soundOf(1024));
  shelves.find('a', '0');
  shelves.keep('a', 'new', soundOf(MiB));
  t.equal(shelves.bytes, workspaceBytes + 1024);
  t.ok(shelves.find('a', '0'));
  t.notOk(shelves.find('a', '1'));
  t.ok(shelves.find('b', 'Sure.'), 'nobody else’s');
  t.end();
});

t.test('keptSpeech.processBytes: the sounds of who has used none for longest go', (t) => {
  const { shelves } = scene();
  const workspaces = processBytes / workspaceBytes;
  for (let who = 0; who < workspaces; who++)
    for (let at = 0; at < workspaceBytes / MiB; at++) shelves.keep(`w${who}`, String(at), soundOf(MiB));
  t.equal(shelves.bytes, processBytes);
  shelves.find('w0', '0');
  shelves.keep('new', 'Sure.', soundOf(MiB));
  t.equal(shelves.bytes, processBytes);
  t.ok(shelves.find('w0', '1'));
  t.notOk(shelves.find('w1', '0'));
  t.ok(shelves.find('w1', '1'));
  t.end();
});

t.test('keptSpeech.ms: a sound is made anew after that, and an unused one goes', (t) => {
  const { shelves, clock } = scene();
  shelves.keep('a', 'Sure.', soundOf(1024));
  clock.advance(ms - 1);
  t.ok(shelves.find('a', 'Sure.'));
  shelves.keep('b', 'Sure.', soundOf(1024));
  clock.advance(1);
  t.notOk(shelves.find('a', 'Sure.'));
  t.equal(shelves.bytes, 1024, 'gone, without anybody’s asking');
  clock.advance(ms);
  t.equal(shelves.bytes, 0);
  t.equal(clock.pending, 0, 'and nobody looks any more');
  t.end();
});

t.test('sounds are charged to their workspace as spare: they go before anybody pays', (t) => {
  const ledger = new Ledger(2 * MiB);
  const { shelves } = scene(ledger);
  shelves.keep('a', 'Sure.', soundOf(MiB));
  t.equal(ledger.bytes, MiB);
  const work = ledger.openShare({ kind: 'body', holder: 'b', evict: () => t.fail('nobody pays') });
  t.ok(work.charge(2 * MiB));
  t.equal(shelves.bytes, 0);
  t.notOk(shelves.find('a', 'Sure.'));
  shelves.keep('a', 'Sure.', soundOf(MiB));
  t.notOk(shelves.find('a', 'Sure.'), 'no memory, no sound');
  t.equal(ledger.bytes, 2 * MiB);
  work.close();
  shelves.keep('a', 'Sure.', soundOf(MiB));
  t.ok(shelves.find('a', 'Sure.'));
  shelves.forget();
  t.equal(ledger.bytes, 0, 'all given back');
  t.end();
});
