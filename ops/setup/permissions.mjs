/** docs/keys-and-workspaces.md: written by hand, but for the tables of roles and routes. */
import fs from 'node:fs';
import { built } from './command.mjs';
import { inRoot } from './paths.mjs';

export const PAGE = 'docs/keys-and-workspaces.md';

export async function generatePermissions() {
  const { withPermissionTables } = await import(built('dist', 'gateway', 'commands', 'permissions-page.js'));
  return withPermissionTables(fs.readFileSync(inRoot(PAGE), 'utf8'));
}
