/** Orders a list so that workspaces take turns; of one workspace's the order stays. */
import { FairQueue, type QueuePlace } from './fair-queue.js';

export function fairOrder<T extends { readonly workspaceId: string }>(items: readonly T[]): readonly T[] {
  const queue = new FairQueue<QueuePlace & { readonly item: T }>();
  for (const item of items) queue.add({ workspaceTag: item.workspaceId, due: 0, item });
  const ordered: T[] = [];
  for (let next = queue.next(0); next !== undefined; next = queue.next(0)) ordered.push(next.item);
  return ordered;
}
