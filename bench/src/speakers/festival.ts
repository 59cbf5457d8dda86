/** The voice of English of Debian's `festival` that no other source has, if it is installed: diphones of a man. */
import { readFile, rm, mkdtemp } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { printedBy } from './programs.js';
import { samplesOfWav, type Source, type Speaker } from './speaker.js';

const PROGRAM = 'text2wave';
const FOLDER = '/usr/share/festival/voices/english';

/**
 * Its folder, the package that has it, and the pitch of its hums. Left out: kal_diphone, the speaker of Flite's kal16, and
 * cmu_us_slt, the one with whose voice agents speak.
 */
const VOICES = [{ name: 'ked', folder: 'ked_diphone', from: 'festvox-kdlpc16k', pitch: 105 }] as const;

async function spoken(voice: string, text: string): Promise<Int16Array> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-festival-'));
  const file = path.join(folder, 'speech.wav');
  try {
    await printedBy(PROGRAM, ['-eval', `(voice_${voice})`, '-o', file], text);
    return samplesOfWav(await readFile(file));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const speakerOf = ({ name, folder, from, pitch }: (typeof VOICES)[number]): Speaker => ({
  name: `festival-${name}`,
  source: `Festival, ${folder} (Debian: festival, ${from})`,
  origin: 'synthetic',
  version: folder,
  pitch,
  say: (text) => spoken(folder, text),
});

/** `folder`: where its voices are. */
export function festivalSource(folder = FOLDER): Source {
  const name = 'Festival';
  const found = VOICES.filter((voice) => existsSync(path.join(folder, voice.folder)));
  const absent = VOICES.filter((voice) => !found.includes(voice)).map(({ from }) => from);
  const missing = `not installed: apt-get install festival ${absent.join(' ')}`;
  return { name, speakers: found.map(speakerOf), ...(absent.length > 0 && { missing }) };
}
