/** What tests of the console's page share: signing in, and looking for what assistive technology stumbles over. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { until } from '../../dist/test/fixtures/until.js';

const AXE = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));

/** Texts that would run, close an element or an attribute, or lead elsewhere, were they taken for markup. */
export const HOSTILE = [
  '<img src=x onerror="window.ran = 1">',
  '"><script>window.ran = 1</script>',
  "' onmouseover='window.ran = 1",
  '<a href="javascript:window.ran = 1">here</a>',
  '</li></ol><iframe srcdoc="<script>parent.ran = 1</script>"></iframe>',
  '{{constructor.constructor("window.ran = 1")()}}',
];

export async function signIn(page, key = TEST_KEY) {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Reads the page until it shows `expected`: a view that was left, or not drawn yet, is not what it says. */
export const shows = (what, read, expected) =>
  until(`${what}: ${JSON.stringify(expected)}`, async () => isDeepStrictEqual(await read(), expected));

/** Each violation in a line; none where all is well. */
export async function violations(page) {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(await readFile(AXE, 'utf8'));
  return page.evaluate(async () => {
    // What is well is long, and nobody reads it.
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  });
}

/** What the page has made of hostile texts beside text; nothing where all is well. */
export const madeOfTexts = (page) =>
  page.evaluate(() => [
    ...(window.ran ? ['a script that ran'] : []),
    ...[
      ...document.querySelectorAll(
        'main img, main iframe, main script, main [onmouseover], a[href^=javascript]',
      ),
    ].map((element) => element.outerHTML),
  ]);

/** The only agent of a workspace, or the newest one, and its draft; `call`: of its owner. */
export const agentOf = async (call) => (await call('agents')).body.agents[0].agent_id;
export const draftOf = async (call) => (await call(`agents/${await agentOf(call)}/config`)).body;
