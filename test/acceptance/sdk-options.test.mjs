/** The list of the options that SDKs can send says what the typings say that are installed for these tests. */
import fs from 'node:fs';
import t from '../../dist/test/fixtures/tap.js';
import { typedGroups } from '../../ops/sdk-options/sources.mjs';

const listed = JSON.parse(
  fs.readFileSync(new URL('../fixtures/speech/sdk-options.json', import.meta.url), 'utf8'),
);

t.test('what the typings declare is listed (else: node ops/sdk-options/command.mjs)', async (t) => {
  const fromTypings = listed.filter(({ sdk }) => !sdk.endsWith('for Python'));
  t.strictSame(JSON.parse(JSON.stringify(typedGroups())), fromTypings);
});
