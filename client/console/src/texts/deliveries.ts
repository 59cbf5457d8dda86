/** The view Deliveries: what was sent to webhooks. */
export const deliveries = {
  title: 'Deliveries',
  intro:
    'Events after calls, to the webhooks of their agents, newest first. Each is tried nine times in a day; what was not taken stays here for seven days.',
  anyStatus: 'All',
  session: 'Session',
  none: 'Nothing was sent in the last seven days.',
  noneMatching: 'No delivery matches.',
  next: (moment: string) => `Next attempt: ${moment}`,
  againAll: 'Deliver all failed ones again',
  againMatching: 'Deliver these failed ones again',
  progress: (count: number, waiting: number) =>
    waiting > 0 ? `${count} are sent again; ${waiting} wait` : `${count} were sent again`,
  statuses: { waiting: 'Waiting', delivered: 'Delivered', failed: 'Failed' } as Readonly<
    Record<string, string>
  >,
  events: {
    'call.ended': 'A call has ended',
    'call.analyzed': 'A call was analysed',
    'phone_call.dial_finished': 'A placed call was answered, or not',
    'phone_call.ended': 'A placed call is over',
  } as Readonly<Record<string, string>>,
  errors: {
    refused: 'address not allowed',
    unresolved: 'name not found',
    unreachable: 'not reachable',
    timeout: 'no answer in time',
    internal: 'not sent',
  } as Readonly<Record<string, string>>,
  asked: 'asked for',
  body: 'Body',
  again: 'Deliver again',
} as const;
