/** Who is told what becomes of deliveries, and what lines of the log say of one. */
import type { Backlog, Delivery, GivenUp } from '../../../contracts/ports/sessions/deliveries.js';
import type { Attempt } from './deliver.js';

export interface DeliveryWatch {
  attempted(delivery: Delivery, attempt: Attempt): void;
  /** They have waited too long for receivers that fail. */
  gaveUp(deliveries: readonly GivenUp[]): void;
  /** Told four times a minute. */
  backlog(backlog: Backlog): void;
}

const nothing = (): void => undefined;

export const unwatched: DeliveryWatch = { attempted: nothing, gaveUp: nothing, backlog: nothing };

/** Of the address only the origin: paths and queries of webhooks are often secrets. */
export const toldOf = ({ id, event, eventId, url, workspaceId, sessionId, agentId }: GivenUp): object => ({
  delivery: id,
  event,
  eventId,
  receiver: URL.canParse(url) ? new URL(url).origin : null,
  workspace: workspaceId,
  session: sessionId,
  agent: agentId,
});
