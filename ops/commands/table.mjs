/**
 * The commands of an installation. npm's scripts run them in a checkout (`npm run keys -- list`), the program `speech-gateway` where the
 * package is installed (`speech-gateway keys list`); both are run.mjs.
 *
 * A row: `says`: what it does, in one sentence; `load`: imports the module that runs it, which reads the words behind the
 * command's name from `process.argv`. `isNamed`: the module runs several commands, and reads the name as well.
 */
const operator = (says) => ({ says, load: () => import('../setup/operator.mjs'), isNamed: true });

export const COMMANDS = {
  start: {
    says: 'serves until SIGTERM or SIGINT; what it runs without a command',
    load: () => import('../setup/start.mjs'),
  },
  setup: {
    says: 'fetches what a start would fetch, and does not start',
    load: () => import('../setup/setup.mjs'),
  },
  doctor: {
    says: 'says what is wrong with this installation, and what mends it',
    load: () => import('../setup/doctor.mjs'),
  },
  models: {
    says: 'lists, adds, verifies and removes models',
    load: () => import('../models/command.mjs'),
  },
  keys: operator('creates, lists and revokes API keys'),
  workspaces: operator('creates, lists, limits and removes workspaces'),
  sessions: operator('shows and deletes the stored data of calls'),
  secrets: operator('replaces the secret that encrypts credentials'),
  numbers: operator('shows and settles whose a phone number is'),
  agents: {
    says: 'agents as files: pull, push and diff, with their tools, knowledge and tests',
    load: () => import('../agents/command.mjs'),
  },
  'agent-test': {
    says: 'plays the tests of an agent on any gateway',
    load: () => import('../agent-test/command.mjs'),
  },
};

/** What runs without a command. */
export const DEFAULT = 'start';
