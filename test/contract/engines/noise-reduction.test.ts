/**
 * Noise reduction on a whole gateway: the model processes the audio of protocol A's sessions that ask for it, and of no others
 * (docs/contract/protocol-a.md 5.2). The model here takes everything for noise.
 */
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from '../../fixtures/tap.js';
import { defaultModelsFolder } from '../../../engines/backends/model-files.js';
import { exactly } from '../../fixtures/exactly.js';
import { startGateway } from '../../fixtures/gateway.js';
import { realtime, session, TRANSCRIBING, TRANSCRIPTION } from '../../fixtures/protocol-a/realtime-events.js';
import { addDenoiser, smallDenoiser } from '../../fixtures/engines/small-denoiser.js';

const modelsDir = mkdtempSync(join(tmpdir(), 'denoiser-'));
for (const name of readdirSync(defaultModelsFolder).filter((each) => each !== 'catalogue'))
  symlinkSync(join(defaultModelsFolder, name), join(modelsDir, name));
addDenoiser(modelsDir, smallDenoiser(0));
const gateway = await startGateway({ MODELS_DIR: modelsDir });
t.teardown(async () => {
  await gateway.stop();
  rmSync(modelsDir, { recursive: true });
});
const { connect, speech } = realtime(gateway);

t.test('noise_reduction: a requested one is done and shown, null ends it', async (t) => {
  const client = await connect(TRANSCRIBING);
  const said = await speech('Hello there.');
  const reductionOf = (event: Parameters<typeof session>[0]): unknown =>
    (session(event) as { audio: { input: { noise_reduction: unknown } } }).audio.input.noise_reduction;
  t.equal(reductionOf(await client.next('session.created')), undefined);
  const table: readonly [asked: unknown, shown: unknown, transcript: string][] = [
    [undefined, undefined, 'Hello there.'],
    [{ type: 'near_field' }, { type: 'near_field' }, ''],
    [undefined, { type: 'near_field' }, ''],
    [{ type: 'far_field' }, { type: 'far_field' }, ''],
    [null, undefined, 'Hello there.'],
    [{ type: 'whisper' }, undefined, 'Hello there.'],
  ];
  for (const [asked, shown, transcript] of table) {
    client.update({ audio: { input: { noise_reduction: asked } } });
    t.strictSame(reductionOf(await client.next('session.updated')), shown);
    client.append(said).commit();
    exactly(t, await client.next(`${TRANSCRIPTION}.completed`), { transcript }, JSON.stringify(asked));
  }
  client.leave();
});
