/** The architecture page and the README list the rooms of the import rule (ops/setup/rooms.mjs). */
import { readFileSync } from 'node:fs';
import { CHECKOUT } from '../../../../contracts/places.js';
import t from '../../../fixtures/tap.js';
import { exactly } from '../../../fixtures/exactly.js';

interface Rooms {
  withRooms(page: string): string;
  wrongFolders(readme: string): string[];
  checkRooms(): string[];
}

const setup = (file: string) => import(new URL(`ops/setup/${file}`, CHECKOUT).href);
const { withRooms, wrongFolders, checkRooms } = (await setup('rooms.mjs')) as Rooms;
const { ROOMS } = (await setup('import-table.mjs')) as { ROOMS: Readonly<Record<string, unknown>> };

const page = (rooms: string) =>
  `before\n<!-- rooms: made by npm run generate -->\n${rooms}\n<!-- end of rooms -->\nafter\n`;

t.test('every room stands in the table, with what it may import', async (t) => {
  const made = withRooms(page('as it was'));
  t.notMatch(made, 'as it was');
  t.match(made, /^before\n/);
  t.match(made, /\nafter\n$/);
  for (const room of Object.keys(ROOMS)) t.match(made, `| \`${room.replace(/\/\.$/, '/*.ts')}\` |`);
  t.match(
    made,
    '| `engines` | synthesis, transcription, language models, embeddings, documents | `contracts`, `processes`, `codecs` |',
  );
});

t.test('the diagram has the nearest arrows only', async (t) => {
  const made = withRooms(page(''));
  t.match(made, '  engines --> codecs\n');
  t.notMatch(made, '  engines --> contracts\n', 'which codecs lead to');
});

t.test('a page without a place for the rooms is refused', async (t) => {
  t.throws(() => withRooms('no marks'), /no place/);
});

t.test('the README tells of every folder, and of no other', async (t) => {
  const readme = readFileSync(new URL('README.md', CHECKOUT), 'utf8');
  t.strictSame(wrongFolders(readme), []);
  exactly(t, wrongFolders(readme.replace('`media/`', '`medium/`')), [
    'README.md does not tell of media/',
    'README.md tells of medium/, which is no room',
  ]);
});

t.test('the checkout itself agrees', async (t) => {
  t.strictSame(checkRooms(), []);
});
