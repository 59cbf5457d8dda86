/**
 * The rooms of import-table.mjs as readers find them: the diagram and the table of docs/architecture.md are made from it,
 * and the README's table of folders names the same ones.
 */
import fs from 'node:fs';
import { CLOSED, ROOMS } from './import-table.mjs';
import { inRoot } from './paths.mjs';

export const PAGE = 'docs/architecture.md';

const isFree = (room) => !CLOSED.includes(room);
const mayAll = (room) => ROOMS[room].may.includes('*');

const shown = (room) => (room.endsWith('/.') ? room.replace(/\.$/, '*.ts') : room);

/** Folders of the checkout that are no rooms: nothing in them is imported by the product. */
const WITHOUT_RULE = ['ops', 'docs'];

/** The rooms that a room may import as a whole; single files of others do not count. */
const wholeRooms = (room) =>
  mayAll(room)
    ? Object.keys(ROOMS).filter((other) => isFree(other) && !mayAll(other))
    : ROOMS[room].may.filter((allowed) => allowed !== room && Object.hasOwn(ROOMS, allowed));

const reaches = (from, to) => wholeRooms(from).some((next) => next === to || reaches(next, to));

/** The rooms among them that cannot be reached by way of another. */
const nearest = (room) =>
  wholeRooms(room).filter((to) => !wholeRooms(room).some((other) => other !== to && reaches(other, to)));

const idOf = (room) => room.replace(/\W+/g, '_');

/** Rooms that may import everything are drawn as one. */
function diagram() {
  const rooms = Object.keys(ROOMS).filter(isFree);
  const all = rooms.filter(mayAll);
  const nodes = rooms
    .filter((room) => !mayAll(room))
    .flatMap((room) => [
      `  ${idOf(room)}["${shown(room)}: ${ROOMS[room].holds}"]`,
      ...nearest(room).map((to) => `  ${idOf(room)} --> ${idOf(to)}`),
    ]);
  const wiring = [
    `  wiring["${all.map(shown).join(', ')}: wiring"]`,
    ...nearest(all[0]).map((to) => `  wiring --> ${idOf(to)}`),
  ];
  return ['```mermaid', 'flowchart TB', ...nodes, ...wiring, '```'].join('\n');
}

const quoted = (names) => names.map((name) => `\`${name}\``).join(', ');

function allowed(room) {
  if (mayAll(room)) return isFree(room) ? 'everything but tests, measurements and the client' : 'everything';
  return quoted(ROOMS[room].may.filter((name) => name !== room)) || 'nothing';
}

const table = () =>
  [
    ['room', 'what it holds', 'may import'],
    ['---', '---', '---'],
    ...Object.entries(ROOMS).map(([room, { holds }]) => [`\`${shown(room)}\``, holds, allowed(room)]),
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');

const FROM = '<!-- rooms: made by npm run generate -->\n';
const TO = '\n<!-- end of rooms -->';

/** The page with diagram and table made anew. Throws where their place is missing. */
export function withRooms(page) {
  const [start, end] = [page.indexOf(FROM), page.indexOf(TO)];
  if (start < 0 || end < start) throw new Error(`${PAGE} has no place for the rooms`);
  return `${page.slice(0, start)}${FROM}\n${diagram()}\n\n${table()}\n${page.slice(end)}`;
}

export const generateRooms = () => withRooms(fs.readFileSync(inRoot(PAGE), 'utf8'));

/** The folders in the first column of the README's table. */
const foldersTold = (readme) =>
  [...readme.matchAll(/^\| ((?:`[\w-]+\/`(?:, )?)+) \|/gm)].flatMap(([, cell]) =>
    [...cell.matchAll(/`([\w-]+)\/`/g)].map(([, folder]) => folder),
  );

/** The mistakes in the README's table of folders, `readme` being its text. */
export function wrongFolders(readme) {
  const told = foldersTold(readme);
  const real = new Set([...Object.keys(ROOMS).map((room) => room.split('/')[0]), ...WITHOUT_RULE]);
  return [
    ...[...real]
      .filter((folder) => !told.includes(folder))
      .map((folder) => `README.md does not tell of ${folder}/`),
    ...told
      .filter((folder) => !real.has(folder))
      .map((folder) => `README.md tells of ${folder}/, which is no room`),
  ];
}

/** Rooms whose folder is gone. `*` holds where any folder is. */
const emptyRooms = () =>
  Object.keys(ROOMS)
    .filter((room) => !fs.existsSync(inRoot(room.replace(/\/[*.]$/, ''))))
    .map((room) => `import-table.mjs has a row for ${room}, which is not there`);

export const checkRooms = () => [
  ...wrongFolders(fs.readFileSync(inRoot('README.md'), 'utf8')),
  ...emptyRooms(),
];
