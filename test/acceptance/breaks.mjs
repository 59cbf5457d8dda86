/**
 * A gateway whose syntheses can be made to break off after their first bytes: the encoding child or the speaking
 * child is killed, or the connection of a remote engine breaks. Each way has a model of its own; all other models are
 * spoken by the exact engine. One gateway for all that import it: its start and end cost more than most of their tests.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { decode } from '@msgpack/msgpack';
import { rejectsExactly } from '../../dist/test/fixtures/exactly.js';
import t from '../../dist/test/fixtures/tap.js';
import { membersOf } from '../../dist/test/fixtures/processes/family.js';
import { startGateway } from '../../dist/test/fixtures/gateway.js';
import { until } from '../../dist/test/fixtures/until.js';

const RATE = 16_000;
const SECOND = Buffer.alloc(2 * RATE, 5);

async function listen(answer) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

/** A speech service that answers a second of audio, and once it is told to breaks off in the middle of an answer. */
async function startRemote() {
  let broken = false;
  const url = await listen((request, response) => {
    request.resume();
    response.write(SECOND, () => (broken ? response.destroy() : response.end()));
  });
  return { url, breakOff: () => (broken = true), mend: () => (broken = false) };
}

/** A speech service that clones voices; `asked` are the requests that it has had. */
async function startCloner() {
  const asked = [];
  const url = await listen((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      asked.push(decode(Buffer.concat(parts)));
      response.end(Buffer.alloc(88_200, 3));
    });
  });
  return { url, asked };
}

/**
 * `breaks` are the ways: which model, and what is done to it, at each piece of sound until it has failed: a speaking child that dies
 * between two sentences is replaced, and the speech goes on.
 */
async function startBreakable() {
  const remote = await startRemote();
  const cloner = await startCloner();
  const gateway = await startGateway({
    TTS_ENGINES: 'tone,flite,openai-compatible,native-compatible',
    MODEL_ROUTES: JSON.stringify({
      's2.1-pro': ['tone'],
      's2-pro': ['tone', 'native-compatible'],
      s1: ['flite'],
      's2.1-pro-free': ['openai-compatible'],
    }),
    REMOTE_OPENAI_URL: remote.url,
    REMOTE_OPENAI_RATE: String(RATE),
    REMOTE_NATIVE_URL: cloner.url,
  });
  const killed = new Set();
  /** Kills the child that runs now, if there is one that was not killed before. */
  const kill = (words) => {
    const pid = membersOf(gateway.pid, words).find((each) => !killed.has(each));
    if (pid === undefined) return;
    killed.add(pid);
    process.kill(pid, 'SIGKILL');
  };
  const breaks = [
    ['the encoding child is killed', 'svc/s2.1-pro', () => kill('workers/encode.js')],
    ['the speaking child is killed', 'svc/s1', () => kill('workers/speech.js tts')],
    ['the remote engine breaks off', 'svc/s2.1-pro-free', remote.breakOff],
  ];
  /** A restart is waited for the longer the more there were, and /health may be asked before a death is noticed. */
  const recovered = () => {
    remote.mend();
    return until('the gateway speaks again', async () => {
      const response = await fetch(`${gateway.base}/v1/tts`, {
        method: 'POST',
        headers: { ...gateway.authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ text: 'a', format: 'mp3' }),
      });
      await response.arrayBuffer().catch(() => undefined);
      return response.ok;
    });
  };
  t.teardown(() => gateway.stop());
  return { gateway, breaks, recovered, cloner };
}

export const breakable = await startBreakable();

/**
 * Only the way after which no child starts anew, which is waited for the longer the more there were: for SDKs on routes that
 * another SDK has seen break in all ways.
 */
export const breakableOnce = { ...breakable, breaks: breakable.breaks.slice(-1) };

/**
 * Reads a stream to its end, and breaks it at each piece. Resolves where the client takes the rest for a
 * success; rejects as the client does.
 */
export async function readOn(stream, breakIt) {
  let length = 0;
  for await (const chunk of stream) {
    breakIt();
    length += chunk.length;
  }
  return length;
}

/** Every way of breaking is a failure: `speak(model)` starts a stream that would not end for hours. */
export async function failsHoweverItBreaks(t, { breaks, recovered }, speak, failure) {
  for (const [way, model, breakIt] of breaks) {
    await rejectsExactly(t, readOn(await speak(model), breakIt), failure, way);
    await recovered();
  }
}
