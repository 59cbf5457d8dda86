/** Generates the tables of docs/keys-and-workspaces.md, for `npm run generate`. */
import { allows, type Permission, PERMISSIONS, ROLES } from '../../contracts/permissions.js';
import { defaultVocabulary } from '../../contracts/vocabulary.js';
import { permissionRows } from '../permissions.js';

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const table = (heading: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(heading), row(heading.map(() => '---')), ...rows.map(row)].join('\n');

const names = Object.keys(PERMISSIONS) as Permission[];

const rolesTable = (): string =>
  table(
    ['permission', 'what', ...ROLES.map((role) => `\`${role}\``)],
    names.map((name) => [
      `\`${name}\``,
      PERMISSIONS[name].what,
      ...ROLES.map((role) => (allows(role, name) ? 'yes' : '')),
    ]),
  );

const routesTable = (): string =>
  table(
    ['route', 'permission'],
    Object.entries(permissionRows(defaultVocabulary)).map(([route, name]) => [
      `\`${route.replace('SOCKET', 'WebSocket')}\``,
      `\`${name}\``,
    ]),
  );

const between = (page: string, block: string, content: string): string => {
  const [from, to] = [`<!-- ${block}: made by npm run generate -->\n`, `<!-- end of ${block} -->`];
  const [start, end] = [page.indexOf(from), page.indexOf(to)];
  if (start < 0 || end < start) throw new Error(`The page has no place for ${block}`);
  return `${page.slice(0, start)}${from}${content}\n${page.slice(end)}`;
};

/** The page with both tables regenerated. Throws if the place of a table is missing. */
export const withPermissionTables = (page: string): string =>
  between(between(page, 'roles', rolesTable()), 'routes', routesTable());
