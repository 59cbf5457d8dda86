/** The routes of sessions: creation, records, the audio of recordings. */
import type { Route } from '../../../server/port.js';
import { keyedRoutes, openRoutes } from '../../../server/routes.js';
import { type CreationParts, creationRows } from './creation.js';
import { RECORDING_FILE_ROWS } from './recording-file.js';
import { type ReadingParts, SESSION_ROWS } from './records.js';

export type SessionRoutesParts = CreationParts & ReadingParts;

export const sessionRoutes = (parts: SessionRoutesParts): readonly Route[] => [
  ...openRoutes(creationRows(parts.vocabulary), parts),
  ...keyedRoutes(SESSION_ROWS, parts),
  ...openRoutes(RECORDING_FILE_ROWS, parts),
];
