/**
 * Files that are made from others and kept in git. Each row's function returns what the file should hold; it needs the
 * build. `npm run check` compares, `npm run generate` writes.
 */
import fs from 'node:fs';
import { generateBounds, PAGE as BOUNDS_PAGE } from './bounds.mjs';
import { generatePage, generateText } from './configuration.mjs';
import { generateIncidents, PAGE as INCIDENTS_PAGE } from './incidents.mjs';
import { generate as generateLicences } from './licences.mjs';
import {
  ALERT_TESTS_FILE,
  ALERTS_FILE,
  DASHBOARD_FILE,
  generateAlerts,
  generateAlertTests,
  generateDashboard,
} from './monitoring.mjs';
import { generateOptions, PAGE as OPTIONS_PAGE } from './options.mjs';
import { inRoot } from './paths.mjs';
import { generatePermissions, PAGE as PERMISSIONS_PAGE } from './permissions.mjs';
import { DESCRIPTION as PYTHON_DESCRIPTION, generateDescription } from './python-client.mjs';
import { generateRooms, PAGE as ROOMS_PAGE } from './rooms.mjs';
import { writeAtomically } from './stamps.mjs';
import { generateStatecharts, PAGE as STATECHARTS_PAGE } from './statecharts.mjs';
import { versionedFiles } from './versions.mjs';

const GENERATED = [
  { file: 'THIRD-PARTY.md', generate: generateLicences },
  { file: 'docs/configuration.md', generate: generatePage },
  { file: BOUNDS_PAGE, generate: generateBounds },
  { file: PERMISSIONS_PAGE, generate: generatePermissions },
  { file: OPTIONS_PAGE, generate: generateOptions },
  { file: ROOMS_PAGE, generate: generateRooms },
  { file: INCIDENTS_PAGE, generate: generateIncidents },
  { file: STATECHARTS_PAGE, generate: generateStatecharts },
  { file: ALERTS_FILE, generate: generateAlerts },
  { file: ALERT_TESTS_FILE, generate: generateAlertTests },
  { file: DASHBOARD_FILE, generate: generateDashboard },
  { file: PYTHON_DESCRIPTION, generate: generateDescription },
  { file: 'ops/setup/help.txt', generate: generateText },
  ...versionedFiles,
];

const current = (file) => fs.readFileSync(inRoot(file), 'utf8');

async function outdated() {
  const rows = await Promise.all(
    GENERATED.map(async ({ file, generate }) => ({ file, content: await generate() })),
  );
  return rows.filter(({ file, content }) => !fs.existsSync(inRoot(file)) || current(file) !== content);
}

/** A line for each file that is not what it would be if it were made now. */
export const checkGenerated = async () =>
  (await outdated()).map(({ file }) => `${file} is out of date: npm run generate`);

/** Writes those files; returns their names. */
export async function writeGenerated() {
  const rows = await outdated();
  for (const { file, content } of rows) writeAtomically(inRoot(file), content);
  return rows.map(({ file }) => file);
}
