/** The tag by which an engine's child tells workspaces apart: the same in every gateway process, and not the id. */
import { createHash } from 'node:crypto';

const TAG_LENGTH = 16;

export const workspaceTag = (workspaceId: string): string =>
  createHash('sha256').update(workspaceId).digest('base64url').slice(0, TAG_LENGTH);
