/**
 * Seeded fuzz of what the speech APIs read: JSON, MessagePack, forms, queries, headers, containers. Every answer is a success or a
 * documented refusal in its dialect's shape, and the gateway serves afterwards.
 */
import t from '../../fixtures/tap.js';
import { sharedGateway } from '../../fixtures/gateway.js';
import { hear, PLAIN, sender } from '../../fixtures/protocol-a/rest.js';
import { externalTool } from '../../fixtures/external.js';
import { folderOf } from '../../fixtures/folders.js';
import { Workshop } from '../../fixtures/odd-audio/workshop.js';
import { letGo, send, shown } from '../../fixtures/fuzz/http.js';
import { requestTargets } from '../../fixtures/fuzz/requests.js';
import { fuzz, roundsOf } from '../../fixtures/fuzz/rounds.js';

const gateway = await sharedGateway(t);
t.teardown(letGo);

const speak = sender(gateway, '/audio/speech');
const spoken = async (response_format: string): Promise<Buffer> => {
  const response = await speak({ model: 'tts-1', input: 'ab', response_format }, {}, PLAIN);
  return Buffer.from(await response.arrayBuffer());
};
const wav = await spoken('wav');
const shop = new Workshop(new Int16Array(8000).fill(9), folderOf(t));
const extensions = externalTool('ffmpeg') === undefined ? [] : ['mp4', 'webm', 'flac', 'aiff'];
const written = extensions.map((extension) => shop.ffmpeg(extension));
const sounds = { wav, others: [await spoken('mp3'), await spoken('opus'), ...written] as const };

const targets = requestTargets(sounds);
/** How often each target was answered with each status. */
const statuses = new Map(targets.map(({ name }) => [name, new Map<number, number>()]));

fuzz(t, targets, {
  rounds: roundsOf(25, 2000),
  async round({ name, make, shape }, draws) {
    const made = make(draws);
    const answer = await send(gateway, made);
    const told = statuses.get(name);
    told?.set(answer.status, (told.get(answer.status) ?? 0) + 1);
    const problem = shape(answer);
    return (
      problem &&
      `${problem}: ${answer.status} ${answer.type} ${answer.body.toString().slice(0, 300)} to ${shown(made)}`
    );
  },
});

t.test('what is fuzzed is both served and refused', async (t) => {
  for (const [name, told] of statuses) t.ok(told.has(200), `${name}: ${JSON.stringify([...told])}`);
  const refused = [...statuses.values()].map((told) => told.get(400) ?? 0);
  t.ok(refused.filter((count) => count > 0).length > statuses.size / 2);
});

t.test('the gateway serves as before', async (t) => {
  t.equal(await hear(gateway, await spoken('wav')), 'ab');
});
