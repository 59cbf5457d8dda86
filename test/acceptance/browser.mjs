/** Headless Chromium with a microphone that plays a file, and a page that holds the built session SDK. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { externalTool } from '../../dist/test/fixtures/external.js';
import { temporaryFolder } from '../../dist/test/fixtures/folders.js';
import { HTML, SCRIPT, servePages } from './page-server.mjs';

const SDK = new URL('../../client/dist/', import.meta.url);
const LIVEKIT = new URL(import.meta.resolve('livekit-client'));

const IMPORTS = JSON.stringify({
  imports: { 'speech-gateway-client': '/sdk/index.js', 'livekit-client': '/livekit.js' },
});

/** `talk` makes a session whose events are kept in `told`. */
const PAGE = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>A shop</title>
<script type="importmap">${IMPORTS}</script>
<script type="module">
import { AgentSession } from 'speech-gateway-client';
const EVENTS = ['connect', 'disconnect', 'statusChange', 'modeChange', 'userTranscript', 'agentResponseDelta',
  'agentResponse', 'message', 'toolCallStarted', 'toolCallCompleted', 'toolCallFailed', 'error'];
window.told = [];
window.loudest = { input: 0, output: 0 };
window.talk = (options) => {
  const session = window.session = new AgentSession(options);
  for (const name of EVENTS)
    session.on(name, (event) => told.push({ name, event: name === 'error' ? { code: event.code } : event }));
  setInterval(() => {
    loudest.input = Math.max(loudest.input, session.inputVolume);
    loudest.output = Math.max(loudest.output, session.outputVolume);
  }, 50);
  return session.start();
};
document.title = 'ready';
</script>`;

async function answer(path) {
  if (path === '/') return { type: HTML, body: PAGE };
  if (path === '/livekit.js') return { type: SCRIPT, body: await readFile(LIVEKIT) };
  const [, file] = /^\/sdk\/([\w-]+\.js)$/.exec(path) ?? [];
  return file && { type: SCRIPT, body: await readFile(new URL(file, SDK)) };
}

/** Serves the page on an origin of its own. */
export const servePage = () => servePages(answer);

/** 16-bit PCM in one channel as a WAV file. */
function wavOf(pcm, rate) {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + pcm.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(pcm.length, 40);
  return Buffer.concat([head, pcm]);
}

const RATE = 24_000;
const silence = (seconds) => Buffer.alloc(seconds * RATE * 2);

/** The sound that the microphone plays, over and over: silence, what `text` sounds like, silence; without `said` only silence. */
async function soundOf(gateway, said) {
  if (!said) return wavOf(silence(1), RATE);
  const { before, text, after } = said;
  const response = await fetch(`${gateway.base}/v1/tts`, {
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ text, format: 'pcm', sample_rate: RATE }),
  });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  const speech = Buffer.from(await response.arrayBuffer());
  return wavOf(Buffer.concat([silence(before), speech, silence(after)]), RATE);
}

/** How long a page may take for anything: a busy machine holds up gateway and browser alike. */
const PATIENCE_MS = 90_000;

/** A name of the gateway's machine that is not this one's: what browsers allow pages on loopback, they do not allow one there. */
export const ELSEWHERE = 'gateway.test';

const FLAGS = [
  `--host-resolver-rules=MAP ${ELSEWHERE} 127.0.0.1`,
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--use-fake-ui-for-media-stream',
  '--use-fake-device-for-media-stream',
  '--autoplay-policy=no-user-gesture-required',
];

/** `said`: `{ before, text, after }`, in seconds; who says nothing interrupts nobody. The browser and its files are gone after `stop()`. */
export async function startBrowser(gateway, said) {
  const folder = temporaryFolder();
  const file = join(folder, 'microphone.wav');
  await writeFile(file, await soundOf(gateway, said));
  const browser = await chromium.launch({
    executablePath: externalTool('chromium'),
    args: [...FLAGS, `--use-file-for-fake-audio-capture=${file}`],
  });
  return {
    /** Resolves when the page has this title. */
    async open(address, title = 'ready') {
      const page = await (await browser.newContext({ permissions: ['microphone'] })).newPage();
      page.setDefaultTimeout(PATIENCE_MS);
      const complaints = [];
      page.on('pageerror', (error) => complaints.push(error.message));
      await page.goto(address);
      await page.waitForFunction((wanted) => document.title === wanted, title);
      return { page, complaints };
    },
    async stop() {
      await browser.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
