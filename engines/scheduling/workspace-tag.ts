/** The tag by which an engine's child tells workspaces apart: the same in every gateway process, and not the id. */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

const TAG_LENGTH = 16;
const KEPT = 1000;

const tagOf = (workspaceId: string): string =>
  createHash('sha256').update(workspaceId).digest('base64url').slice(0, TAG_LENGTH);

const tags = new LRUCache<string, string>({ max: KEPT, memoMethod: tagOf });

export const workspaceTag = (workspaceId: string): string => tags.memo(workspaceId);
