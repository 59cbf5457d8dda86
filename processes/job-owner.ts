/** The owner of a caller's jobs. Its tag is the same in every gateway process, and is not the workspace's id. */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { JobOwner } from '../contracts/ports/jobs.js';

const TAG_LENGTH = 16;
const KEPT = 1000;

const tagOf = (workspaceId: string): string =>
  createHash('sha256').update(workspaceId).digest('base64url').slice(0, TAG_LENGTH);

const tags = new LRUCache<string, string>({ max: KEPT, memoMethod: tagOf });

export const workspaceTag = (workspaceId: string): string => tags.memo(workspaceId);

export const ownerOf = ({
  workspaceId,
  isLive = false,
}: {
  readonly workspaceId: string;
  readonly isLive?: boolean;
}): JobOwner => ({ workspaceTag: workspaceTag(workspaceId), isLive });
