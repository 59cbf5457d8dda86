/**
 * The console offers a natural voice to an operator whose gateway has none: a button, its progress, and the voice can be heard, without
 * a restart. In headless Chromium, from a server of the test; the voice is a small one that goes by that name.
 */
import t from '../../dist/test/fixtures/tap.js';
import { smallVoiceEntry } from '../../dist/test/fixtures/engines/small-voice.js';
import { skipReason } from '../../dist/test/fixtures/external.js';
import { startGateway } from '../../dist/test/fixtures/gateway.js';
import { whole } from '../../dist/test/fixtures/models/catalogue.js';
import { shelf } from '../../dist/test/fixtures/models/running.js';
import { until } from '../../dist/test/fixtures/until.js';
import { signIn, violations } from './console.mjs';

const TITLE = 'A small voice called kokoro-en-int8';

/** Sends half of the model, and the rest once it is let go on. */
function heldServer() {
  let goOn = () => {};
  const wait = new Promise((resolve) => (goOn = resolve));
  const answer = () => (request, response, body) => {
    if (!request.url.endsWith('model.onnx')) return whole(request, response, body);
    response.writeHead(200, { etag: '"x"', 'content-length': body.length });
    response.write(body.subarray(0, body.length / 2));
    void wait.then(() => response.end(body.subarray(body.length / 2)));
  };
  return { answer, goOn };
}

t.test('an operator adds a natural voice', { skip: skipReason('chromium'), timeout: 300_000 }, async (t) => {
  const { startBrowser } = await import('./browser.mjs');
  const { answer, goOn } = heldServer();
  const { env } = await shelf(
    t,
    (base) => [smallVoiceEntry('kokoro-en-int8', base), smallVoiceEntry('second', base)],
    answer,
  );
  const gateway = await startGateway({ ...env, TTS_ENGINES: '' });
  t.teardown(() => gateway.stop());
  const browser = await startBrowser(gateway);
  t.teardown(() => browser.stop());
  const { page, complaints } = await browser.open(`${gateway.base}/console`, 'Sign in · Speech gateway');
  const button = (name) => page.getByRole('button', { name, exact: true });
  await signIn(page);

  await page.getByRole('link', { name: 'Speak', exact: true }).first().click();
  await page.getByRole('heading', { name: 'A natural voice' }).waitFor();
  await page.getByText(`${TITLE}, 1 MB, CC0-1.0.`).waitFor();
  await page
    .getByText(/quick enough for calls/)
    .first()
    .waitFor();
  t.strictSame(await violations(page), [], 'the offer');
  await button('Add it').click();
  await page.getByRole('progressbar', { name: `Download of ${TITLE}` }).waitFor();
  const told = page.locator('main [role=status]').filter({ hasText: TITLE });
  await told.filter({ hasText: '40 % has come' }).waitFor();
  t.strictSame(await violations(page), [], 'the download');

  await page.getByRole('link', { name: 'Voices', exact: true }).first().click();
  await page
    .getByRole('progressbar', { name: `Download of ${TITLE}` })
    .first()
    .waitFor();
  await page.getByRole('heading', { name: 'Models of the catalogue' }).waitFor();
  await button('Cancel the download').first().waitFor();
  goOn();
  await told.filter({ hasText: 'is in use: you can hear it now' }).first().waitFor();
  await page
    .getByRole('cell', { name: /^kokoro-en-int8/ })
    .first()
    .waitFor();
  const heard = page.waitForResponse((response) => response.url().endsWith('/v1/tts'));
  await page.getByRole('button', { name: 'Hear kokoro-en-int8' }).first().click();
  t.equal((await heard).status(), 200, 'it is heard');
  t.strictSame(await violations(page), [], 'the voice');

  await page.getByRole('heading', { name: 'Models of the catalogue' }).click();
  page.on('dialog', (dialog) => void dialog.accept());
  await page.getByRole('button', { name: `Remove ${TITLE}` }).click();
  await until(
    'its voice is gone',
    async () => (await page.getByRole('cell', { name: /^kokoro-en-int8/ }).count()) === 0,
  );
  t.strictSame(await violations(page), [], 'the catalogue');
  t.strictSame(complaints, []);
});
