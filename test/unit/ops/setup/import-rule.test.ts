/**
 * The import rule (docs/architecture.md "Rooms"), with sources that follow it and sources that break it. Whether the
 * checkout follows it is a row of `npm run check`.
 */
import { CHECKOUT } from '../../../../contracts/places.js';
import t from '../../../fixtures/tap.js';
import { exactly } from '../../../fixtures/exactly.js';

interface ImportRule {
  violations(file: string, text: string): string[];
  roomOf(file: string): string | undefined;
}

const setup = (name: string): Promise<unknown> => import(new URL(`ops/setup/${name}`, CHECKOUT).href);
const { violations, roomOf } = (await setup('import-rule.mjs')) as ImportRule;

/** File, its source, and the message about it (none: allowed). */
const CASES: [file: string, source: string, said?: string][] = [
  ['contracts/a.ts', `import { b } from './ports/b.js';`],
  ['contracts/a.ts', `import { randomBytes } from 'node:crypto';`],
  ['contracts/a.ts', `import fs from 'node:fs';`, 'contracts may not import node:fs'],
  ['contracts/a.ts', `import fs from 'fs';`, 'contracts may not import fs'],
  ['contracts/schemas/a.ts', `import { Check } from 'typebox/value';`],
  ['contracts/a.ts', `import { Type } from 'typebox';`, 'contracts may not import the package typebox'],
  ['contracts/a.ts', `import pino from 'pino';`, 'may not import the package pino'],
  ['contracts/a.ts', `import type { X } from '../codecs/x.js';`, 'contracts may not import codecs/x'],
  ['processes/a.ts', `import { x } from '../contracts/ids.js';`],
  ['processes/a.ts', `import { x } from '../storage/x.js';`, 'processes may not import storage/x'],
  ['storage/a.ts', `import postgres from 'postgres';`],
  ['storage/a.ts', `import { x } from '../processes/x.js';`, 'storage may not import processes/x'],
  ['codecs/a/b.ts', `import { x } from '../../processes/x.js';`],
  ['codecs/a.ts', `import { x } from '../engines/x.js';`, 'codecs may not import engines/x'],
  ['engines/a.ts', `import { x } from '../codecs/x.js';`],
  [
    'engines/a.ts',
    `export * from '../gateway/server/port.js';`,
    'engines may not import gateway/server/port',
  ],
  ['engines/a.ts', `const x = await import('../gateway/main.js');`, 'engines may not import gateway/main'],
  ['engines/a.ts', `let x: import('../storage/x.js').X;`, 'engines may not import storage/x'],
  ['engines/a.ts', `const name = 'x'; await import(name);`, 'an import with a computed name'],
  ['engines/a.ts', `const { x } = require('../storage/x.js');`, 'engines may not import storage/x'],
  ['media/a.ts', `import { x } from '../engines/x.js';`, 'media may not import engines/x'],
  ['actors/a.ts', `import { setup } from 'xstate';`],
  ['gateway/a.ts', `import { createActor } from 'xstate';`, 'may not import the package xstate'],
  ['test/unit/a.test.ts', `import { createActor } from 'xstate';`],
  ['media/a.ts', `import postgres from 'postgres';`, 'media may not import the package postgres'],
  ['storage/a/b.ts', `import postgres from 'postgres';`],
  ['actors/a.ts', `import { readFile } from 'node:fs/promises';`, 'actors may not import node:fs/promises'],
  ['client/a.ts', `import { ids } from '../contracts/ids.js';`, 'client may not import contracts/ids'],
  ['gateway/server/a.ts', `import { x } from '../../contracts/ids.js';`],
  [
    'gateway/server/a.ts',
    `import { x } from '../config.js';`,
    'gateway/server may not import gateway/config',
  ],
  ['gateway/server/adapters/bindings.ts', 'require(`uws_${process.platform}.node`);'],
  ['gateway/server/a.ts', 'require(`uws_${process.platform}.node`);', 'an import with a computed name'],
  ['gateway/dialects/native/a.ts', `import { x } from '../../server/port.js';`],
  ['gateway/dialects/native/a.ts', `import { x } from './schema.js';`],
  ['gateway/dialects/native/a.ts', `import { x } from '../../../codecs/formats.js';`],
  [
    'gateway/dialects/native/a.ts',
    `import { x } from '../../../codecs/resampler.js';`,
    'gateway/dialects/native may not import codecs/resampler',
  ],
  [
    'gateway/dialects/native/a.ts',
    `import { x } from '../protocol-a/schema.js';`,
    'gateway/dialects/native may not import gateway/dialects/protocol-a/schema',
  ],
  [
    'gateway/dialects/native/a.ts',
    `import { x } from '../../../engines/registry.js';`,
    'may not import engines/registry',
  ],
  ['gateway/agents/deliveries/a.ts', `import { x } from '../../outbound/fetch.js';`],
  [
    'gateway/agents/deliveries/a.ts',
    `import { x } from '../../../storage/x.js';`,
    'may not import storage/x',
  ],
  ['gateway/outbound/a.ts', `import { x } from '../../actors/x.js';`, 'may not import actors/x'],
  [
    'gateway/agents/recordings/a.ts',
    `import { x } from '../../../storage/x.js'; import y from '../../config.js';`,
  ],
  [
    'gateway/agents/recordings/a.ts',
    `import { x } from '../../wiring/x.js';`,
    'may not import gateway/wiring/x',
  ],
  ['gateway/commands/a.ts', `import { x } from '../agents/recordings/x.js';`],
  ['gateway/commands/a.ts', `import { x } from '../main.js';`, 'may not import gateway/main'],
  ['gateway/wiring/a.ts', `import { x } from '../../engines/x.js';`],
  ['gateway/workers/speech.ts', `import { x } from '../../engines/registry.js';`],
  ['gateway/main.ts', `import { x } from '../storage/x.js'; import y from './dialects/native/speech.js';`],
  ['gateway/main.ts', `import { x } from '../test/fixtures/x.js';`, 'may not import test/fixtures/x'],
  ['gateway/main.ts', `import { x } from '../bench/src/suite.js';`, 'may not import bench/src/suite'],
  ['gateway/main.ts', `import { x } from '../ops/setup/paths.mjs';`, 'may not import ops/setup/paths'],
  ['gateway/elsewhere/a.ts', `export {};`, 'no row of import-table.mjs holds this file'],
  ['test/unit/a.test.ts', `import { x } from '../../gateway/main.js'; import y from '../../bench/src/y.js';`],
  ['bench/test/a.test.ts', `import { x } from '../src/x.js';`],
];

t.test('each import is held against the row of its room', async (t) => {
  for (const [file, source, said] of CASES) {
    const found = violations(file, source);
    if (said === undefined) t.same(found, [], `${file} may: ${source}`);
    else t.ok(found.length === 1 && found[0]?.includes(said), `${file} may not: ${source} (${found.join()})`);
  }
});

t.test('a violation names the file and the line', async (t) => {
  const source = `import a from './a.js';\n\nimport {\n  x,\n} from '../gateway/main.js';\n`;
  exactly(t, violations('codecs/b.ts', source), [/^codecs\/b\.ts:5: /]);
});

t.test('words in comments and strings are no imports', async (t) => {
  t.same(
    violations(
      'codecs/b.ts',
      `// import x from '../gateway/main.js'\nconst s = "import('../gateway/x.js')";`,
    ),
    [],
  );
});

t.test('the longest room that holds a file is its room', async (t) => {
  t.equal(roomOf('gateway/dialects/native/a.ts'), 'gateway/dialects/native');
  t.equal(roomOf('gateway/main.ts'), 'gateway/.');
  t.equal(roomOf('gateway/workers/speech.ts'), 'gateway/workers');
  t.equal(roomOf('codecs/encode/mp3.ts'), 'codecs');
});
