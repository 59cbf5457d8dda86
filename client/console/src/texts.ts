/**
 * All texts of the console; those of a view stand in its file below `texts/`. Texts from the gateway, its messages and its
 * schemas' descriptions, are shown unchanged.
 */
import { agents, form } from './texts/agents.js';
import { audit } from './texts/audit.js';
import { calls } from './texts/calls.js';
import { deliveries } from './texts/deliveries.js';
import { knowledge } from './texts/knowledge.js';
import { machine } from './texts/machine.js';
import { models } from './texts/models.js';
import { phone } from './texts/phone.js';
import { listen, realtime, speak } from './texts/speech-apis.js';
import { start } from './texts/start.js';
import { talk } from './texts/talk.js';
import { tests } from './texts/tests.js';
import { tools } from './texts/tools.js';
import { voices } from './texts/voices.js';

const seconds = (count: number): string => `${count} ${count === 1 ? 'second' : 'seconds'}`;

export const texts = {
  name: 'Speech gateway',
  skip: 'Skip to the content',
  working: 'Loading…',
  cancel: 'Cancel',
  again: 'Try again',
  copy: 'Copy',
  copied: 'Copied',
  kind: 'Kind',
  more: 'Show more',
  plot: {
    values: (name: string, last: string, most: string) => `${name}: ${last} now, ${most} at its highest`,
    nothing: (name: string) => `${name}: nothing yet`,
  },
  chart: { table: 'As a table', when: 'When' },
  remove: { ask: 'Delete…', now: 'Delete for good' },
  errors: {
    unreachable: 'The gateway cannot be reached.',
    unexpected: (status: number) => `The gateway answers ${status}, and not as it should`,
    unknown: 'Something in this page has failed.',
  },
  advice: {
    unknown: 'Load the page again; what you have typed is kept.',
    correct: 'Correct what it names, then try again.',
    server: 'Try again; if it happens again, the gateway’s log has the cause.',
    waitSeconds: (count: number) => `Try again in ${seconds(count)}.`,
    byStatus: {
      0: 'Check that it runs and that you are connected, then try again. What you have typed is kept.',
      401: 'Sign in with a key that is valid.',
      402: 'This workspace has used up its monthly quota; the operator of the gateway can raise it.',
      403: 'Sign in with a key of a role that may do this.',
      404: 'It may have been deleted in the meantime: look at the list again.',
      409: 'Change what it names, then try again.',
      413: 'Choose something smaller.',
      422: 'Correct the fields that it names.',
      429: 'Wait a moment, then try again.',
      503: 'The gateway is busy: try again in a few seconds.',
    } as Readonly<Record<number, string>>,
  },
  theme: { label: 'Colours', auto: 'As the system', light: 'Light', dark: 'Dark' },
  signIn: {
    title: 'Sign in',
    key: 'API key',
    help: 'The first one was printed at the first start, and is in the file `api-key` of the data folder; `npm run keys -- create` makes others. It is kept for this tab and sent to this gateway only.',
    advice: {
      401: 'The gateway does not know this key, or it has expired: check that you copied all of it.',
    },
    submit: 'Sign in',
    again: 'This key does not work any more',
    againHelp:
      'It has expired, or was revoked. Go on with another key of this workspace: nothing that you have typed is lost.',
    other: 'This key is of another workspace. Sign out to work there.',
    out: 'Sign out',
    role: (role: string) => `Key of role ${role}`,
  },
  groups: { try: 'Try', build: 'Build', watch: 'Watch' },
  views: {
    start: 'Start',
    speak: 'Speak',
    listen: 'Listen',
    realtime: 'Realtime',
    voices: 'Voices',
    agents: 'Agents',
    tools: 'Tools',
    knowledge: 'Knowledge',
    tests: 'Tests',
    phone: 'Phone numbers',
    talk: 'Talk',
    calls: 'Calls',
    deliveries: 'Deliveries',
    audit: 'Audit',
    machine: 'Machine',
    api: 'API',
  },
  start,
  talk,
  calls,
  deliveries,
  audit,
  speak,
  listen,
  realtime,
  agents,
  form,
  machine,
  models,
  voices,
  tests,
  phone,
  tools,
  knowledge,
} as const;
