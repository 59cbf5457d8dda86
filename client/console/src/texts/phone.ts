/** The view Phone numbers. */
export const phone = {
  intro:
    'Telephone numbers that your agents answer. You rent them from a provider, which asks this gateway about each call.',
  add: 'Add a number',
  addNow: 'Add',
  provider: 'Provider',
  number: 'Number',
  numberHelp: 'With its country, such as +493012345678; or a SIP address.',
  label: 'Name',
  labelHelp: 'For you: callers never see it.',
  agent: 'Agent that answers',
  agentHelp: 'Callers get the published version.',
  nobody: 'Nobody: it rings busy',
  verifies: 'As the provider’s own console shows it. It is stored encrypted and never shown again.',
  places: 'To place calls from this number; leave it empty if it only answers. Stored encrypted as well.',
  enabled: 'Calls are answered',
  answers: 'Answers',
  rejects: 'Rejects calls',
  answerUrl: 'Answer URL',
  answerUrlHelp: (provider: string) =>
    `Give it to ${provider} as the number’s webhook, by POST. docs/phone.md says where.`,
  noHttps:
    'Providers use https only: set PUBLIC_URL to the gateway’s public address, and copy this address again.',
  replace: 'Replace credentials',
  replaceNow: 'Replace',
  replaced: 'Replaced. Fields that were left empty stay as they were.',
  none: 'No numbers here yet.',
  back: 'All numbers',
  removeSure: 'The gateway forgets the number and rejects its calls. The provider keeps it.',
} as const;
