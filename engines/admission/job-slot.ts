/** The slot of one job: the one that its caller has reserved, or one of its own. */
import type { Admission, Caller, UsageKind } from '../../contracts/ports/accounts/identity.js';

/** The result gives the slot back. Errors: `quota_exceeded`, `concurrency_exceeded`, `overloaded`. */
export async function enterJob(
  admission: Admission,
  { workspaceId, place }: Caller,
  kind: UsageKind,
): Promise<() => void> {
  const leave = place?.take();
  if (!leave) return admission.enter(workspaceId, kind);
  try {
    await admission.check(workspaceId, kind);
    return leave;
  } catch (error) {
    leave();
    throw error;
  }
}
