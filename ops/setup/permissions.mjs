/** docs/keys-and-workspaces.md: written by hand, but for the tables of roles and routes. */
import fs from 'node:fs';
import { built } from './command.mjs';
import { buildConsole } from './console-build.mjs';
import { inRoot } from './paths.mjs';

export const PAGE = 'docs/keys-and-workspaces.md';

/** All routes of a gateway; those of the console are the files that were built. */
async function routes() {
  if (!fs.existsSync(inRoot('client', 'console', 'dist', 'index.html'))) await buildConsole();
  const { declaredRoutes } = await import(built('dist', 'gateway', 'declared-routes.js'));
  return declaredRoutes();
}

export async function generatePermissions() {
  const { withPermissionTables } = await import(built('dist', 'gateway', 'commands', 'permissions-page.js'));
  return withPermissionTables(fs.readFileSync(inRoot(PAGE), 'utf8'), await routes());
}
