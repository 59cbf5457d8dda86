/**
 * A gateway whose syntheses can be made to break off after their first bytes: the encoding child or the speaking
 * child is killed, or the connection of a remote engine breaks. Each way has a model of its own; all other models are
 * spoken by the first engine.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { memberOf } from '../../dist/test/fixtures/family.js';
import { startGateway } from '../../dist/test/fixtures/gateway.js';
import { until } from '../../dist/test/fixtures/until.js';

const RATE = 16_000;
const SECOND = Buffer.alloc(2 * RATE, 5);

/** A speech service that answers a second of audio, and once it is told to breaks off in the middle of an answer. */
async function startRemote() {
  let broken = false;
  const server = createServer((request, response) => {
    request.resume();
    response.write(SECOND, () => (broken ? response.destroy() : response.end()));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    breakOff: () => (broken = true),
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** `engine` speaks where nothing breaks. `breaks` are the ways: which model, and what is done to it. */
export async function startBreakable(engine = 'tone', env = {}) {
  const remote = await startRemote();
  const gateway = await startGateway({
    ...env,
    TTS_ENGINES: [...new Set([engine, 'flite', 'openai-compatible'])].join(),
    MODEL_ROUTES: JSON.stringify({
      's2.1-pro': [engine],
      's2-pro': [engine],
      s1: ['flite'],
      's2.1-pro-free': ['openai-compatible'],
    }),
    REMOTE_OPENAI_URL: remote.url,
    REMOTE_OPENAI_RATE: String(RATE),
  });
  const kill = (words) => process.kill(memberOf(gateway.pid, words), 'SIGKILL');
  const breaks = [
    ['the encoding child is killed', 'svc/s2.1-pro', () => kill('workers/encode.js')],
    ['the speaking child is killed', 'svc/s1', () => kill('workers/speech.js tts')],
    ['the remote engine breaks off', 'svc/s2.1-pro-free', remote.breakOff],
  ];
  const recovered = () =>
    until('the gateway is whole again', async () => (await fetch(`${gateway.base}/health`)).ok);
  const stop = async () => {
    remote.stop();
    await gateway.stop();
  };
  return { gateway, breaks, recovered, stop };
}

/**
 * Reads the beginning of a stream, breaks it, and reads on to the end. Resolves where the client takes the rest for a
 * success; rejects as the client does.
 */
export async function readOn(stream, breakIt) {
  let length = 0;
  for await (const chunk of stream) {
    if (length === 0) breakIt();
    length += chunk.length;
  }
  return length;
}

/** Every way of breaking is a failure: `speak(model)` starts a stream that would not end for hours. */
export async function failsHoweverItBreaks(t, { breaks, recovered }, speak, failure) {
  for (const [way, model, breakIt] of breaks) {
    await t.rejects(readOn(await speak(model), breakIt), failure, way);
    await recovered();
  }
}
