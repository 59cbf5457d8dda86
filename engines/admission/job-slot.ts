/** The slot of one job: the one that its caller has reserved, or one of its own. Jobs of calls need none. */
import type { Admission, Caller, UsageKind } from '../../contracts/ports/accounts/identity.js';

const NO_SLOT = (): void => undefined;

/** The result gives the slot back. Errors: `quota_exceeded`, `concurrency_exceeded`, `overloaded`. */
export async function enterJob(
  admission: Admission,
  { workspaceId, place, isCall = false }: Caller,
  kind: UsageKind,
): Promise<() => void> {
  const leave = isCall ? NO_SLOT : place?.takeSlot();
  if (!leave) return admission.enter(workspaceId, kind);
  try {
    await admission.check(workspaceId, kind);
    return leave;
  } catch (error) {
    leave();
    throw error;
  }
}
