/** The audit trail of all workspaces: entries are kept, and one that cannot be is told to the operator. */
import { whyOf } from '../../../contracts/errors.js';
import type { Log } from '../../../contracts/log.js';
import type { AuditEntries, AuditTrail } from '../../../contracts/ports/accounts/audit.js';

export const createAuditTrail = (entries: AuditEntries, log: Log): AuditTrail => ({
  list: (...of) => entries.list(...of),
  async note(entry) {
    try {
      await entries.add(entry);
    } catch (error) {
      const { workspaceId, keyId, action, subjectId } = entry;
      log.error({ ...whyOf(error), workspaceId, keyId, action, subjectId }, 'an audit entry was not kept');
    }
  },
});
