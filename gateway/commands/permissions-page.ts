/** Generates the tables of docs/keys-and-workspaces.md, for `npm run generate`. */
import { allows, type Permission, PERMISSIONS, ROLES } from '../../contracts/permissions.js';
import { between, table } from './page-parts.js';

interface ShownRoute {
  readonly method: string;
  readonly path: string;
  readonly permission: Permission;
}

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

/** The files of a page are one row: their names change with each build. */
const FILE_OF_PAGE = /^(\/console|\/docs)\/[^/]+$/;

const rowOf = ({ method, path, permission }: ShownRoute): readonly [route: string, permission: string] => [
  `\`${method.replace('SOCKET', 'WebSocket')} ${path.replace(FILE_OF_PAGE, '$1/*')}\``,
  `\`${permission}\``,
];

const routesTable = (routes: readonly ShownRoute[]): string =>
  table(['route', 'permission'], [...new Map(routes.map(rowOf))]);

/** The page with both tables regenerated. Throws if the place of a table is missing. */
export const withPermissionTables = (page: string, routes: readonly ShownRoute[]): string =>
  between(between(page, 'roles', rolesTable()), 'routes', routesTable(routes));
