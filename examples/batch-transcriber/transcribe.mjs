/**
 * Transcribes every recording of a folder, into text or subtitles beside it. What is there already is not done again, so a run
 * that was stopped can be repeated.
 *
 *   node transcribe.mjs FOLDER [txt|srt|vtt]
 */
import { existsSync } from 'node:fs';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { GATEWAY, KEY, stop } from '../gateway.mjs';

const RECORDING = /\.(aac|amr|avi|flac|m4a|mkv|mov|mp3|mp4|oga|ogg|opus|wav|webm|wma)$/i;
/** What the file is called, and how the API calls it. */
const FORMATS = { txt: 'text', srt: 'srt', vtt: 'vtt' };
const AT_A_TIME = 2;
/** The gateway is busy: it says for how long. */
const AGAIN = new Set([429, 503]);
const ATTEMPTS = 5;

const [folder, format = 'txt'] = process.argv.slice(2);
if (!folder || !FORMATS[format]) stop('node transcribe.mjs FOLDER [txt|srt|vtt]');

function request(file, audio) {
  const form = new FormData();
  form.set('file', new Blob([audio]), file);
  form.set('model', 'whisper-1');
  form.set('response_format', FORMATS[format]);
  const headers = { authorization: `Bearer ${KEY}` };
  return fetch(`${GATEWAY}/v1/audio/transcriptions`, { method: 'POST', headers, body: form });
}

/** The transcript. Throws with the gateway's own words. */
async function transcribe(file) {
  const audio = await readFile(join(folder, file));
  for (let attempt = 1; ; attempt++) {
    const response = await request(file, audio);
    const text = await response.text();
    if (response.ok) return text;
    if (!AGAIN.has(response.status) || attempt === ATTEMPTS) throw new Error(`${response.status} ${text}`);
    await sleep(1000 * Number(response.headers.get('retry-after') ?? attempt));
  }
}

const targetOf = (file) => join(folder, `${parse(file).name}.${format}`);

/** Under another name until it is whole, so that a stopped run leaves no half file. */
async function keep(file, text) {
  const target = targetOf(file);
  await writeFile(`${target}.part`, text);
  await rename(`${target}.part`, target);
}

const recordings = (await readdir(folder).catch((error) => stop(error.message))).filter((file) =>
  RECORDING.test(file),
);
const waiting = recordings.filter((file) => !existsSync(targetOf(file))).sort();
console.log(`${recordings.length} recordings, ${waiting.length} to transcribe`);

async function work() {
  for (let file; (file = waiting.shift());)
    try {
      await keep(file, await transcribe(file));
      console.log(`${file}: done`);
    } catch (error) {
      console.error(`${file}: ${error.message}`);
      process.exitCode = 1;
    }
}
await Promise.all(Array.from({ length: AT_A_TIME }, work));
